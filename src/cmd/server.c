/* The server: listens, and lets each client run its test against this host. */
#include "base/clock.h"
#include "base/topo.h"
#include "cmd/cmd.h"
#include "orch/comm.h"
#include "orch/launch.h"
#include "orch/orch.h"
#include "spec/option.h"

#include <stdio.h>
#include <unistd.h>

struct server {
	const struct request *request;
	struct clock clock;
	atomic_int interrupted; /* a client's process: the thread that sets it outlives serve_client() */
};

static uint64_t memory_limit(const struct request *request)
{
	uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES), page = (uint64_t)sysconf(_SC_PAGESIZE);

	return request->memory_limit == SPEC_AUTO ? pages * page / 2 : request->memory_limit;
}

/* What -M asks for; the default leaves it to the client. */
static uint32_t own_mem(const struct request *request)
{
	const bool given = option_given(request, option_find("mem_type")) || request->cuda != SPEC_AUTO;

	return given ? request->spec.mem : (uint32_t)MEM_AUTO;
}

/* One client's test, in a process of its own. */
static int serve_client(struct comm *comm, void *context)
{
	struct server *server = context;
	struct orch_conf conf = { .clock = &server->clock,
				  .interrupted = &server->interrupted,
				  .own_device = server->request->spec.device,
				  .own_cores = server->request->spec.cores,
				  .own_exclude_cores = server->request->spec.exclude_cores,
				  .own_mem = own_mem(server->request),
				  .own_gpu = server->request->spec.gpu,
				  .cuda_lib_path = server->request->cuda_lib_path,
				  .sysfs = server->request->sysfs,
				  .conditions = server->request,
				  .memory_limit = memory_limit(server->request) };
	struct error err = { 0 };
	struct topo *topo = NULL;
	int rc = topo_open(&topo, &err);

	if (rc == 0)
		rc = interrupt_watch(&server->interrupted, &err);
	conf.topo = topo;
	if (rc == 0)
		rc = orchestrate(comm, &conf, NULL, NULL, &err);
	topo_close(topo);
	if (rc < 0 && !server->request->launched) /* a client that started us says it itself */
		cmd_complain(&err);
	return rc < 0 ? EXIT_FAILED : EXIT_DONE;
}

static void ready(void *context, unsigned port)
{
	const struct server *server = context;

	char line[LAUNCH_READY_LINE];

	if (server->request->launched) {
		puts(launch_ready_line(port, line, sizeof(line)));
		fflush(stdout);
	} else {
		fprintf(stderr, "fabperf server: waiting for clients on port %u (Ctrl-C ends it)\n", port);
	}
}

static void failed(void *context, const struct error *err)
{
	const struct server *server = context;

	if (!server->request->launched)
		cmd_complain(err);
}

int cmd_server(struct request *request)
{
	struct server server = { .request = request };
	struct serve_conf conf = { .request = request,
				   .clock = &server.clock,
				   .ready = ready,
				   .serve = serve_client,
				   .failed = failed,
				   .context = &server };
	struct request_host host = { 0 };
	struct error err = { 0 };
	int rc = request_resolve(request, &host, &err);

	if (rc == 0) {
		clock_init(&server.clock, false);
		rc = serve(&conf, &err);
	}
	return rc < 0 ? cmd_complain(&err) : EXIT_DONE;
}
