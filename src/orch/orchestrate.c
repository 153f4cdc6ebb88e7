/* The steps of a run, the same on every rank: agree on the test, open, exchange addresses, connect, run, gather. */
#include "base/buf.h"
#include "mem/mem.h"
#include "orch/clocksync.h"
#include "orch/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REQUEST_BYTES 256 /* rough costs beside the data buffers, for the memory limit: a work request, */
#define EP_BYTES      10240 /* an endpoint, */
#define WORKER_BYTES  (4u << 20) /* a worker */

/*
 * Device, cores and memory of a rank that answers: what the client asked for it, else what it was started with, else the
 * client's device and cores of its own choice.
 */
static int use_own(struct run *run, struct cursor *from, struct error *err)
{
	const struct orch_conf *conf = run->conf;
	char device[SPEC_NAME], cores[SPEC_TEXT];
	uint32_t mem;

	cursor_string(from, device, sizeof(device));
	cursor_string(from, cores, sizeof(cores));
	mem = cursor_u32(from);
	if (from->failed)
		return error_set(err, -EPROTO, "the client's test cannot be read");
	run->spec.mem = mem_of_server(&run->spec, mem, conf->own_mem);
	if (device[0])
		memcpy(run->spec.device, device, sizeof(device));
	else if (conf->own_device && conf->own_device[0])
		memcpy(run->spec.device, conf->own_device, sizeof(device));
	if (!cores[0] && conf->own_cores)
		memcpy(cores, conf->own_cores, sizeof(cores));
	memcpy(run->spec.cores, cores, sizeof(cores));
	if (cores[0])
		run->spec.exclude_cores[0] = 0;
	else if (conf->own_exclude_cores && conf->own_exclude_cores[0])
		memcpy(run->spec.exclude_cores, conf->own_exclude_cores, sizeof(run->spec.exclude_cores));
	return 0;
}

/* Rank 0: the test, its own placement, and what it asks of the rank that answers. */
static void pack_test(const struct run *run, const struct request *request, const struct placement *mine,
		      struct buf *to)
{
	struct buf text = BUF_INIT;

	spec_pack(&run->spec, &text);
	buf_put_block(to, text.data, text.len);
	buf_release(&text);
	placement_pack(mine, to);
	buf_put_string(to, request->server_device);
	buf_put_string(to, request->server_cores);
	buf_put_u32(to, request->server_mem);
}

static int check_memory(const struct run *run, struct error *err)
{
	const struct spec *spec = &run->spec;
	uint64_t per_qp = EP_BYTES + REQUEST_BYTES * (spec->tx_depth + spec->rx_depth);
	uint64_t need = run->workers * (WORKER_BYTES + flow_buffer_bytes(spec, 64, NULL) + spec->qps * per_qp);

	if (!run->conf->memory_limit || need <= run->conf->memory_limit)
		return 0;
	return error_set(
		err, -E2BIG,
		"the test needs %llu MiB of memory and this server allows %llu MiB: ask for fewer --qps or smaller "
		"messages, or start the server with a larger --memory_limit",
		(unsigned long long)(need >> 20), (unsigned long long)(run->conf->memory_limit >> 20));
}

/* The others: reads it, and checks it before anything is sized by it. */
static int unpack_test(struct run *run, const struct buf *data, struct placement *ret, struct error *err)
{
	const struct request *conditions = run->conf->conditions;
	struct cursor from, block;
	int rc;

	cursor_init(&from, data->data, data->len);
	cursor_block(&from, &block);
	rc = spec_unpack(&run->spec, &block, err);
	if (rc == 0 && placement_unpack(ret, &from) < 0)
		rc = error_set(err, -EPROTO, "the client's placement cannot be read");
	if (rc == 0)
		rc = use_own(run, &from, err);
	if (rc == 0 && conditions)
		rc = request_admits(conditions, &run->spec, err);
	if (rc == 0)
		rc = spec_check(&run->spec, err);
	if (rc == 0)
		rc = spec_check_server_mem(&run->spec, err);
	run->workers = (unsigned)run->spec.workers;
	return rc == 0 ? check_memory(run, err) : rc;
}

/* Everybody has the same test and its own cores; what is wrong with either goes into own. Fails with the connection only. */
static int agree_test(struct run *run, const struct request *request, struct placement *mine, struct error *own,
		      struct error *err)
{
	struct placement other = { 0 };
	struct buf data = BUF_INIT;
	int rc;

	if (run->comm->rank == 0) {
		run->spec = request->spec;
		run->workers = (unsigned)run->spec.workers;
		placement_choose(run, NULL, mine, own);
		pack_test(run, request, mine, &data);
	}
	rc = comm_bcast(run->comm, &data, run_deadline(run), err);
	if (rc == 0 && run->comm->rank != 0 && unpack_test(run, &data, &other, own) == 0)
		placement_choose(run, &other, mine, own);
	buf_release(&data);
	return rc;
}

/* Everybody knows everybody's cores: shared ones are reported, and their workers give way. */
static int exchange_placement(struct run *run, const struct placement *mine, struct error *err)
{
	struct buf to[2] = { BUF_INIT, BUF_INIT }, from[2] = { BUF_INIT, BUF_INIT };
	unsigned peer = 1 - run->comm->rank;
	struct placement other = { 0 };
	struct cursor c;
	int rc;

	placement_pack(mine, &to[peer]);
	rc = comm_exchange(run->comm, to, from, run_deadline(run), err);
	if (rc == 0) {
		cursor_init(&c, from[peer].data, from[peer].len);
		if (placement_unpack(&other, &c) < 0)
			rc = error_set(err, -EPROTO, "the placement of %s cannot be read", run->comm->peer_name);
		run->cores_shared = placement_shared(mine, &other);
	}
	for (unsigned i = 0; i < 2; i++) {
		buf_release(&to[i]);
		buf_release(&from[i]);
	}
	return rc;
}

static int open_flow(struct run *run, unsigned i, struct error *err)
{
	struct flow *flow = &run->flows[i];
	struct port_conf conf = { .spec = &run->spec,
				  .clock = run->conf->clock,
				  .worker = i,
				  .workers = run->workers,
				  .active = run->active,
				  .local = &run->comm->local,
				  .remote = &run->comm->remote,
				  .closing = &run->closing };
	int rc;

	flow->spec = &run->spec;
	flow->engine = run->engine;
	flow->drv = run->drv;
	flow->clock = run->conf->clock;
	flow->topo = run->conf->topo;
	flow->control = &run->control;
	flow->index = i;
	flow->core = run->cores.core[i];
	flow->active = run->active;
	flow->result = &run->mine.worker[i];
	flow->result->core = flow->core;
	flow->result->qps = run->spec.qps;
	rc = flow_open(flow, &conf, run->node, err);
	flow->result->numa = flow->mem ? flow->mem->node : -1;
	flow->yield = run->cores_shared;
	return rc;
}

static int open_flows(struct run *run, struct error *err)
{
	int rc = 0;

	run->drv = driver_find((enum driver_kind)run->spec.driver);
	run->engine = engine_find((enum metric)run->spec.metric);
	if (!run->drv || !run->engine)
		return error_set(err, -EPROTO, "this executable has no such driver or metric");
	if (rank_result_alloc(&run->mine, run->workers, run->spec.metric == METRIC_LAT) < 0 ||
	    (run->spec.qp_histogram && rank_result_alloc_qps(&run->mine, (uint32_t)run->spec.qps) < 0))
		return error_set(err, -ENOMEM, "no memory for the results");
	run->flows = calloc(run->workers, sizeof(*run->flows));
	if (!run->flows)
		return error_set(err, -ENOMEM, "no memory for %u workers", run->workers);
	for (unsigned i = 0; rc == 0 && i < run->workers; i++) {
		rc = open_flow(run, i, err);
		if (rc == 0 && run->conf->interrupted && *run->conf->interrupted)
			rc = error_set(err, -EINTR, "interrupted");
	}
	return rc;
}

static int set_up(struct run *run, const struct request *request, struct error *err)
{
	struct placement mine = { 0 };
	struct error own = { 0 };
	int rc = agree_test(run, request, &mine, &own, err);

	if (rc == 0)
		rc = comm_agree(run->comm, &own, run_deadline(run), err);
	if (rc == 0)
		rc = exchange_placement(run, &mine, err);
	if (rc == 0) {
		open_flows(run, &own);
		rc = comm_agree(run->comm, &own, run_deadline(run), err);
	}
	return rc == 0 ? join_flows(run, err) : rc;
}

static void tear_down(struct run *run)
{
	for (unsigned i = 0; run->flows && i < run->workers; i++)
		flow_close(&run->flows[i]);
	free(run->flows);
	run->flows = NULL;
}

/* What was measured stands, but a device that does not take back what it gave is a failure, and whose it was is said. */
static int end_flows(struct run *run, struct error *err)
{
	tear_down(run);
	return comm_agree(run->comm, &run->closing, run_deadline(run), err);
}

/* What went wrong on any rank, or who interrupted, decides how the run ended. */
static int judge(const struct run *run, struct result *result, struct error *err)
{
	const struct error *first = NULL;
	unsigned who = 0;

	for (unsigned i = 0; i < run->comm->size; i++) {
		const struct error *e = &result->rank[i].error;

		if (e->code && (!first || (comm_consequence(first) && !comm_consequence(e)))) {
			first = e;
			who = i;
		}
	}
	if (first)
		return error_set(err, first->code, "%s: %s", who ? run->comm->peer_name : "this host", first->text);
	if (run->interrupted) {
		result->status = RUN_INTERRUPTED;
		result->error = run->stop;
	} else {
		result->status = RUN_OK;
	}
	return 0;
}

/* The slowest worker's time from its last post until nothing was outstanding. */
static double drain_seconds(const struct run *run)
{
	int64_t longest = 0;

	for (unsigned i = 0; i < run->workers; i++) {
		const struct flow *flow = &run->flows[i];

		if (flow->over_ns && flow->drained_ns - flow->over_ns > longest)
			longest = flow->drained_ns - flow->over_ns;
	}
	return (double)longest / 1e9;
}

static int measure(struct run *run, struct result *ret, struct error *err)
{
	int rc = traffic_run(run, err);
	struct error closing = { 0 };
	double drain = drain_seconds(run);

	if (rc < 0)
		return rc;
	collect_mine(run);
	rc = collect_all(run, ret, err);
	if (rc < 0)
		return rc;
	end_flows(run, &closing);
	if (run->comm->rank == 0) {
		ret->measured = true;
		result_join_windows(ret);
		ret->drain_seconds = drain;
		rc = judge(run, ret, err);
	}
	return closing.code ? error_set(err, closing.code, "%s", closing.text) : rc;
}

int orchestrate(struct comm *comm, const struct orch_conf *conf, const struct request *request, struct result *ret,
		struct error *err)
{
	struct run run = { .comm = comm, .conf = conf, .active = comm->rank == 0, .node = -1 };
	int64_t begun = clock_now(conf->clock);
	struct timespec wall;
	int rc;

	gethostname(run.mine.host, sizeof(run.mine.host) - 1);
	memcpy(run.mine.version, FABPERF_VERSION, sizeof(FABPERF_VERSION));
	run.mine.clock_error_ns = -1;
	clock_gettime(CLOCK_REALTIME, &wall);
	comm->interrupted = conf->interrupted;
	rc = set_up(&run, request, err);
	comm->interrupted = NULL; /* from here on Ctrl-C ends the traffic and keeps what was measured */
	if (ret) {
		ret->started_unix_ns = wall.tv_sec * 1000000000LL + wall.tv_nsec;
		ret->setup_seconds = (double)(clock_now(conf->clock) - begun) / 1e9;
	}
	if (rc == 0)
		rc = measure(&run, ret, err);
	tear_down(&run);
	rank_result_release(&run.mine);
	if (rc < 0 && ret) {
		ret->status = RUN_FAILED;
		ret->error = *err;
	}
	return rc;
}
