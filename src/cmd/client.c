/* The client: resolves the request, reaches the server, carries the test through and prints the result. */
#include "base/clock.h"
#include "base/topo.h"
#include "cmd/cmd.h"
#include "driver/driver.h"
#include "orch/comm.h"
#include "orch/launch.h"
#include "orch/orch.h"
#include "report/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

struct client {
	struct request *request;
	struct clock clock;
	struct topo *topo;
	struct progress_view view;
	atomic_int interrupted;
	struct result result;
};

static void on_progress(void *context, const struct progress *progress)
{
	struct client *client = context;

	progress_traffic(&client->view, progress->elapsed, progress->total);
}

static void on_live(void *context, const struct live *live)
{
	struct client *client = context;

	progress_live(&client->view, stderr,
		      &(struct live_line){ .at = live->at,
					   .gbps = live->gbps,
					   .mpps = live->mpps,
					   .both = live->both,
					   .to_server = live->to_server,
					   .to_client = live->to_client });
}

int cmd_complain(const struct error *err)
{
	fprintf(stderr, "fabperf: %s\n", err->text);
	return EXIT_FAILED;
}

/* Asking libfabric takes a moment: only where its answer may decide something. */
static void look_for_providers(const struct request *request, struct request_host *ret)
{
	const struct driver *ofi = driver_find(DRIVER_OFI);
	const struct spec *spec = &request->spec;

	if (spec->driver != DRIVER_AUTO && spec->driver != DRIVER_OFI)
		return;
	if (transport_is_socket(spec->transport) || ret->device_is_rdma)
		return;
	if (spec->device[0])
		ret->device_is_provider = ofi->has_device(spec->device);
	else if (!ret->has_rdma || spec->driver == DRIVER_OFI || spec->transport != TRANSPORT_AUTO)
		ret->shm = host_is_local(request->host) && ofi->has_device("shm");
}

static bool is_open(const struct spec *spec)
{
	return spec->driver == DRIVER_AUTO && spec->transport == TRANSPORT_AUTO && !spec->device[0];
}

static int resolve(struct request *request, struct error *err)
{
	const struct driver *ibv = driver_find(DRIVER_IBV);
	const struct spec *spec = &request->spec;
	const char *device = spec->device;
	const bool open = is_open(spec);
	struct request_host host = { .has_rdma = ibv && ibv->has_device(""),
				     .device_is_rdma = device[0] && ibv && ibv->has_device(device) };
	int rc;

	look_for_providers(request, &host);
	if (getrandom(&host.lot, sizeof(host.lot), 0) < 0)
		return error_sys(err, -errno, "cannot draw a random number");
	rc = request_resolve(request, &host, err);
	if (rc == 0 && open && spec->driver == DRIVER_OFI)
		fprintf(stderr,
			"fabperf: no RDMA device here: running over libfabric's %s provider (-d chooses another, -c "
			"TCP "
			"uses sockets)\n",
			spec->device);
	return rc;
}

static int run(struct client *client, struct error *err)
{
	struct observer observer = { .progress = on_progress, .live = on_live, .context = client };
	struct orch_conf conf = { .clock = &client->clock,
				  .topo = client->topo,
				  .observer = &observer,
				  .interrupted = &client->interrupted };
	struct launch *launch = NULL;
	struct comm *comm = NULL;
	int rc;

	progress_preparing(&client->view, "Preparing", 0);
	rc = launch_and_connect(client->request, &client->clock, &client->interrupted, &comm, &launch, err);
	if (rc == 0)
		rc = orchestrate(comm, &conf, client->request, &client->result, err);
	comm_close(comm);
	launch_stop(launch, rc < 0 ? err : NULL);
	progress_end(&client->view);
	return rc;
}

/* A direction in which nothing was sent in the whole window. */
static bool is_silent(const struct result *result)
{
	for (unsigned i = 0; i < result_directions(result); i++) {
		struct direction way;

		result_direction(result, i, &way);
		if (rank_rate(&way.result, result_sender(&way.result)).messages == 0)
			return true;
	}
	return false;
}

/* Nothing was sent, or nothing answered, in the whole window: that is no figure. */
static bool is_empty(const struct result *result)
{
	struct latency latency;

	if (result->request.spec.metric == METRIC_LAT)
		return !result_latency(result, &latency) && !result_unanswered(result);
	return is_silent(result);
}

static void judge(struct result *result)
{
	if (result->status == RUN_OK && result->measured && is_empty(result)) {
		result->status = RUN_FAILED;
		error_set(&result->error, -ENODATA, "no message completed inside the window: give a longer --duration");
	}
	if (result->status == RUN_OK && (result_bw_threshold(result) < 0 || result_lat_threshold(result) < 0))
		result->status = RUN_THRESHOLD;
}

static int write_json(const struct result *result, struct error *err)
{
	const struct request *request = &result->request;
	char path[SPEC_TEXT + 64];
	int rc = 0;

	if (request->print_json)
		rc = report_json_file(result, "-", err);
	if (rc < 0 || !request->json)
		return rc;
	snprintf(path, sizeof(path), "%s", request->json_path);
	if (!path[0])
		report_json_default_path(result, path, sizeof(path));
	rc = report_json_file(result, path, err);
	if (rc == 0 && strcmp(path, "-") != 0)
		fprintf(stderr, "fabperf: the result is in %s\n", path);
	return rc;
}

static int exit_status(const struct result *result)
{
	switch (result->status) {
	case RUN_OK:
		return EXIT_DONE;
	case RUN_THRESHOLD:
		return EXIT_THRESHOLD;
	case RUN_INTERRUPTED:
		return EXIT_INTERRUPTED;
	case RUN_FAILED:
		break;
	}
	return EXIT_FAILED;
}

/* Prints what there is: figures on stdout, the reason of a failure on stderr. */
static int report(struct client *client, int rc, struct error *err)
{
	struct result *result = &client->result;
	struct error trouble = { 0 };
	int status;

	if (rc < 0) {
		result->status = client->interrupted ? RUN_INTERRUPTED : RUN_FAILED;
		result->error = *err;
	}
	judge(result);
	if (rc == 0 && result->status == RUN_FAILED)
		cmd_complain(&result->error);
	if (result->measured && !client->request->print_json)
		report_terminal(stdout, result);
	if (rc < 0)
		cmd_complain(err);
	status = exit_status(result);
	if (ferror(stdout)) {
		error_set(&trouble, -EIO, "cannot write the report to stdout: it is full or closed");
		status = cmd_complain(&trouble);
	}
	if (write_json(result, &trouble) < 0)
		status = cmd_complain(&trouble);
	return status;
}

static int carry_out(struct client *client, struct error *err)
{
	const struct request *request = client->request;
	int rc = resolve(client->request, err);

	if (rc < 0)
		return rc;
	if (request->json_path[0] && strcmp(request->json_path, "-") != 0)
		rc = report_json_check(request->json_path, err);
	if (rc < 0) {
		client->result.request.json = false; /* it has been said */
		return rc;
	}
	client->result.request = *client->request;
	clock_init(&client->clock, false);
	rc = interrupt_watch(&client->interrupted, err);
	if (rc == 0)
		rc = topo_open(&client->topo, err);
	return rc == 0 ? run(client, err) : rc;
}

static int64_t unix_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int cmd_client(struct request *request)
{
	struct client client = { .request = request };
	struct error err = { 0 };
	int rc;

	result_init(&client.result, request, 2);
	client.result.started_unix_ns = unix_now();
	progress_init(&client.view, stderr, !request->non_interactive);
	rc = carry_out(&client, &err);
	rc = report(&client, rc, &err);
	topo_close(client.topo);
	result_release(&client.result);
	return rc;
}
