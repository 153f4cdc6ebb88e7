/* The client: resolves the request, reaches the server, carries the test through and prints the result. */
#include "base/clock.h"
#include "base/topo.h"
#include "cmd/cmd.h"
#include "driver/driver.h"
#include "orch/comm.h"
#include "orch/launch.h"
#include "orch/orch.h"
#include "report/burst_log.h"
#include "report/report.h"
#include "spec/sweep.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

struct client {
	struct request *request;
	struct sweep sweep;
	struct clock clock;
	struct topo *topo;
	struct progress_view view;
	atomic_int interrupted;
	struct results results;
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

static uint64_t message_max(const struct spec *spec)
{
	const struct driver *drv = driver_find((enum driver_kind)spec->driver);

	return drv ? drv->message_max(spec) : 0;
}

static bool is_open(const struct spec *spec)
{
	return spec->driver == DRIVER_AUTO && spec->transport == TRANSPORT_AUTO && !spec->device[0];
}

int cmd_finish(int status)
{
	struct error err = { 0 };

	fflush(stdout);
	if (!ferror(stdout))
		return status;
	error_set(&err, -EIO, "cannot write to stdout: it is full or closed");
	return cmd_complain(&err);
}

static int resolve(struct client *client, struct error *err)
{
	struct request *request = client->request;
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
	host.message_max = message_max;
	rc = sweep_resolve(&client->sweep, request, &host, err);
	if (rc == 0 && open && spec->driver == DRIVER_OFI)
		fprintf(stderr,
			"fabperf: no RDMA device here: running over libfabric's %s provider (-d chooses another, -c "
			"TCP uses sockets)\n",
			spec->device);
	return rc;
}

static void judge_validity(struct result *result)
{
	struct validity v;

	if (result->status != RUN_OK || !result->measured || !result_validity(result, &v))
		return;
	if (v.invalid) {
		result->status = RUN_FAILED;
		error_set(&result->error, -EBADMSG,
			  "data validation: %llu of %llu messages did not arrive as they were sent",
			  (unsigned long long)v.invalid, (unsigned long long)v.messages);
	}
}

static void judge(struct result *result)
{
	if (result->status == RUN_OK && result->measured && result_is_empty(result)) {
		result->status = RUN_FAILED;
		error_set(&result->error, -ENODATA, "no message completed inside the window: give a longer --duration");
	}
	judge_validity(result);
	if (result->status == RUN_OK && (result_bw_threshold(result) < 0 || result_lat_threshold(result) < 0))
		result->status = RUN_THRESHOLD;
}

static void on_begins(void *context, unsigned number, unsigned of)
{
	struct client *client = context;

	progress_test(&client->view, number, of);
}

/* The row of a sweep appears as soon as it is measured. */
static void on_measured(void *context, struct result *result)
{
	struct client *client = context;
	const struct results *results = &client->results;

	judge(result);
	if (results->asked == 1 || !result->measured || client->request->print_json)
		return;
	progress_end(&client->view);
	report_row(stdout, results, (unsigned)(result - results->result));
}

static int run(struct client *client, struct error *err)
{
	struct observer observer = { .progress = on_progress,
				     .live = on_live,
				     .begins = on_begins,
				     .measured = on_measured,
				     .context = client };
	struct orch_conf conf = { .clock = &client->clock,
				  .topo = client->topo,
				  .observer = &observer,
				  .interrupted = &client->interrupted,
				  .cuda_lib_path = client->request->cuda_lib_path,
				  .sysfs = client->request->sysfs };
	struct launch *launch = NULL;
	struct comm *comm = NULL;
	int rc;

	progress_preparing(&client->view, "Preparing", 0);
	rc = launch_and_connect(client->request, &client->clock, &client->interrupted, &comm, &launch, err);
	if (rc == 0)
		rc = orchestrate(comm, &conf, &client->sweep, &client->results, err);
	comm_close(comm);
	launch_stop(launch, rc < 0 ? err : NULL);
	progress_end(&client->view);
	return rc;
}

static int write_json(const struct results *results, struct error *err)
{
	const struct request *request = &results->request;
	char path[SPEC_TEXT + 64];
	int rc = 0;

	if (request->print_json)
		rc = report_json_file(results, "-", err);
	if (rc < 0 || !request->json)
		return rc;
	snprintf(path, sizeof(path), "%s", request->json_path);
	if (!path[0])
		report_json_default_path(results->started_unix_ns, path, sizeof(path));
	rc = report_json_file(results, path, err);
	if (rc == 0 && strcmp(path, "-") != 0)
		fprintf(stderr, "fabperf: the result is in %s\n", path);
	return rc;
}

static int write_bursts(struct results *results, struct error *err)
{
	const char *path = results->request.burst_log;
	int rc = 0;

	if (path[0] && results->result[0].measured)
		rc = report_file(path, burst_log_results, results, err);
	error_prefix(err, "--burst_log");
	return rc;
}

int cmd_status(enum run_status status)
{
	switch (status) {
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

/* Which test of a sweep failed; what went wrong before the first speaks for itself. */
static int complain(const struct results *results)
{
	struct error error = results->error;

	if (results->asked > 1 && (results->worst || results->result[0].measured))
		error_prefix(&error, "test %u of %u", results->worst + 1, results->asked);
	return cmd_complain(&error);
}

static void print(const struct client *client)
{
	const struct results *results = &client->results;

	if (client->request->print_json)
		return;
	if (results->asked > 1 && results->result[0].measured)
		report_table_end(stdout, results);
	else if (results->asked == 1 && results->result[0].measured)
		report_terminal(stdout, results->result);
}

/* Prints what there is: figures on stdout, the reason of a failure on stderr. */
static int report(struct client *client, int rc, struct error *err)
{
	struct results *results = &client->results;
	struct result *last = &results->result[results->begun - 1];
	struct error trouble = { 0 };
	int status;

	if (rc < 0) {
		last->status = client->interrupted ? RUN_INTERRUPTED : RUN_FAILED;
		last->error = *err;
	}
	judge(last);
	results_conclude(results);
	if (rc == 0 && results->status == RUN_FAILED)
		complain(results);
	print(client);
	if (rc < 0)
		complain(results);
	status = cmd_finish(cmd_status(results->status));
	if (write_json(results, &trouble) < 0 || write_bursts(results, &trouble) < 0)
		status = cmd_complain(&trouble);
	return status;
}

static int carry_out(struct client *client, struct error *err)
{
	const struct request *request = client->request;
	int rc = resolve(client, err);

	if (rc == 0 && results_expect(&client->results, request, &client->sweep) < 0)
		rc = error_set(err, -ENOMEM, "no memory for the results of %u tests", client->sweep.count);
	if (rc < 0)
		return rc;
	rc = report_file_check(request->json_path, "-j", err);
	if (rc < 0) {
		client->results.request.json = false; /* it has been said */
		return rc;
	}
	rc = report_file_check(request->burst_log, "--burst_log", err);
	if (rc < 0)
		return rc;
	clock_init(&client->clock, false);
	rc = interrupt_watch(&client->interrupted, err);
	if (rc == 0)
		rc = topo_open(&client->topo, err);
	return rc == 0 ? run(client, err) : rc;
}

int64_t cmd_unix_now(void)
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

	if (results_init(&client.results, request) < 0) {
		error_set(&err, -ENOMEM, "no memory for the results");
		return cmd_complain(&err);
	}
	client.results.started_unix_ns = cmd_unix_now();
	progress_init(&client.view, stderr, !request->non_interactive);
	rc = carry_out(&client, &err);
	rc = report(&client, rc, &err);
	topo_close(client.topo);
	results_release(&client.results);
	sweep_release(&client.sweep);
	return rc;
}
