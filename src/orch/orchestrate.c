/* The steps of a run, the same on every rank: agree on the tests; open, exchange addresses, connect, run, gather for each. */
#include "base/buf.h"
#include "mem/mem.h"
#include "orch/clocksync.h"
#include "orch/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int alloc_result(struct run *run, struct error *err)
{
	struct rank_result *mine = &run->mine;

	rank_result_release(mine);
	mine->error = (struct error){ 0 };
	if (rank_result_alloc(mine, run->workers, run->spec.metric == METRIC_LAT) < 0 ||
	    (run->spec.qp_histogram && rank_result_alloc_qps(mine, (uint32_t)run->spec.qps) < 0))
		return error_set(err, -ENOMEM, "no memory for the results");
	return 0;
}

static void reset_control(struct flow_control *control)
{
	atomic_store(&control->command, FLOW_RUN);
	atomic_store(&control->expected, 0);
	atomic_store(&control->arrived, 0);
	atomic_store(&control->running, 0);
	atomic_store(&control->sending, 0);
	atomic_store(&control->failed, 0);
}

/* What a worker's result says of its flow. */
static void describe(const struct run *run, const struct flow *flow)
{
	flow->result->core = flow->core;
	flow->result->qps = run->spec.qps;
	flow->result->numa = flow->mem ? flow->mem->node : -1;
	flow->result->gpu = flow->mem ? flow->mem->gpu : -1;
}

static int open_flow(struct run *run, unsigned i, struct error *err)
{
	struct flow *flow = &run->flows[i];
	const struct mem_host host = { .topo = run->conf->topo,
				       .node = run->node,
				       .cuda_lib_path = run->conf->cuda_lib_path,
				       .sysfs = run->conf->sysfs };
	struct port_conf conf = { .spec = &run->spec,
				  .tests = run->sweep.spec + run->test,
				  .test_count = sweep_end(&run->sweep, run->test) - run->test,
				  .clock = run->conf->clock,
				  .worker = i,
				  .workers = run->workers,
				  .first = run->active && i == 0,
				  .active = run->active,
				  .local = &run->comm->local,
				  .remote = &run->comm->remote,
				  .gone = run->comm->gone,
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
	rc = flow_open(flow, &conf, &host, err);
	describe(run, flow);
	flow->yield = run->cores_shared;
	return rc;
}

static int open_flows(struct run *run, struct error *err)
{
	int rc = 0;

	run->drv = driver_find((enum driver_kind)run->spec.driver);
	run->engine = engine_find(&run->spec);
	if (!run->drv || !run->engine)
		return error_set(err, -EPROTO, "this executable has no such driver or metric");
	rc = alloc_result(run, err);
	if (rc < 0)
		return rc;
	reset_control(&run->control);
	run->control.interrupted = run->conf->interrupted;
	run->flows = calloc(run->workers, sizeof(*run->flows));
	if (!run->flows)
		return error_set(err, -ENOMEM, "no memory for %u workers", run->workers);
	for (unsigned i = 0; rc == 0 && i < run->workers; i++)
		rc = open_flow(run, i, err);
	return rc;
}

static int set_up(struct run *run, struct error *err)
{
	struct error own = { 0 };
	int rc;

	open_flows(run, &own);
	rc = comm_agree(run->comm, &own, run_deadline(run), err);
	return rc == 0 ? join_flows(run, err) : rc;
}

/* The next test on the endpoints of the one before. */
static int renew(struct run *run, struct error *err)
{
	struct error own = { 0 };
	int rc = alloc_result(run, &own);

	reset_control(&run->control);
	for (unsigned i = 0; rc == 0 && i < run->workers; i++) {
		struct flow *flow = &run->flows[i];

		rc = flow_renew(flow, &run->mine.worker[i], &own);
		describe(run, flow);
		if (rc == 0)
			rc = run_prepare(run, flow, &own);
	}
	return comm_agree(run->comm, &own, run_deadline(run), err);
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

/* Before the traffic and after it, never in between: a device answers from what it would use for messages. */
static void count_before(struct run *run)
{
	run->nics.count = 0;
	for (unsigned i = 0; run->spec.counters == CHOICE_ON && i < run->workers; i++) {
		struct nic nic;

		run->drv->nic(run->flows[i].port, &nic);
		nics_add(&run->nics, &nic);
	}
	port_counters_release(&run->mine.counters);
	counters_before(run->conf->sysfs, &run->nics, &run->mine.counters);
}

static int measure(struct run *run, struct result *ret, struct error *err)
{
	int rc;

	count_before(run);
	rc = traffic_run(run, err);
	if (rc < 0)
		return rc;
	counters_after(run->conf->sysfs, &run->nics, run->conf->clock, &run->mine.counters);
	collect_mine(run);
	rc = collect_all(run, ret, err);
	if (rc == 0 && run->comm->rank == 0) {
		ret->measured = true;
		result_join_windows(ret);
		ret->drain_seconds = drain_seconds(run);
	}
	return rc;
}

/* Rank 0 says whether the next test follows: this one went well, and nobody wants to stop. */
static int agree_next(struct run *run, bool well, bool *ret, struct error *err)
{
	const struct orch_conf *conf = run->conf;
	const bool stop = run->interrupted || (conf->interrupted && *conf->interrupted);
	struct buf word = BUF_INIT;
	struct cursor from;
	int rc;

	*ret = false;
	if (run->test + 1 == run->sweep.count)
		return 0;
	if (run->comm->rank == 0)
		buf_put_u8(&word, well && !stop);
	rc = comm_bcast(run->comm, &word, run_deadline(run), err);
	cursor_init(&from, word.data, word.len);
	*ret = rc == 0 && cursor_u8(&from) != 0;
	buf_release(&word);
	return rc;
}

/* After the figures of a test: what they come to, whether another follows, and the end of endpoints that none goes on with. */
static int conclude(struct run *run, struct result *ret, bool *more, struct error *err)
{
	struct error closing = { 0 }, verdict = { 0 };
	int rc;

	if (run->comm->rank == 0)
		judge(run, ret, &verdict);
	rc = agree_next(run, !verdict.code, more, err);
	if (rc == 0 && (!*more || run->sweep.fresh[run->test + 1]))
		end_flows(run, &closing);
	if (closing.code)
		*more = false;
	if (rc == 0 && closing.code)
		return error_set(err, closing.code, "%s", closing.text);
	return rc == 0 && verdict.code ? error_set(err, verdict.code, "%s", verdict.text) : rc;
}

static int begin_test(struct run *run, struct error *err)
{
	const bool first = run->test == 0;

	run->spec = run->sweep.spec[run->test];
	return first || run->sweep.fresh[run->test] ? set_up(run, err) : renew(run, err);
}

static void announce(const struct run *run)
{
	const struct observer *o = run->conf->observer;

	if (o && o->begins)
		o->begins(o->context, run->test + 1, run->sweep.count);
}

/* From the first control message on, of the first test; of the others from their own. */
static int run_test(struct run *run, int64_t begun, struct result *ret, bool *more, struct error *err)
{
	int rc;

	announce(run);
	run->comm->interrupted = run->conf->interrupted;
	rc = run->test == 0 ? tests_agree(run, err) : 0;
	if (rc == 0)
		rc = begin_test(run, err);
	run->comm->interrupted = NULL; /* from here on Ctrl-C ends the traffic and keeps what was measured */
	if (ret)
		ret->setup_seconds = (double)(clock_now(run->conf->clock) - begun) / 1e9;
	if (rc == 0)
		rc = measure(run, ret, err);
	return rc == 0 ? conclude(run, ret, more, err) : rc;
}

/* A test that failed is a result with a reason; those before it stand. */
static void keep(const struct run *run, struct result *result, int rc, const struct error *err)
{
	const struct observer *o = run->conf->observer;

	if (rc < 0) {
		result->status = RUN_FAILED;
		result->error = *err;
	}
	if (o && o->measured)
		o->measured(o->context, result);
}

static int64_t wall_ns(void)
{
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	return wall.tv_sec * 1000000000LL + wall.tv_nsec;
}

static int run_tests(struct run *run, struct results *ret, struct error *err)
{
	bool more = true;
	int rc = 0;

	for (; rc == 0 && more; run->test++) {
		struct result *result = ret ? &ret->result[run->test] : NULL;
		const int64_t begun = clock_now(run->conf->clock);

		more = false;
		if (result) {
			result->started_unix_ns = wall_ns();
			ret->begun = run->test + 1;
			ret->setups += run->sweep.fresh[run->test];
		}
		rc = run_test(run, begun, result, &more, err);
		if (result)
			keep(run, result, rc, err);
	}
	return rc;
}

int orchestrate(struct comm *comm, const struct orch_conf *conf, const struct sweep *sweep, struct results *ret,
		struct error *err)
{
	struct run *run = calloc(1, sizeof(*run));
	int rc;

	if (!run)
		return error_set(err, -ENOMEM, "no memory for a run");
	run->comm = comm;
	run->conf = conf;
	run->active = comm->rank == 0;
	run->node = -1;
	if (sweep)
		run->sweep = *sweep;
	run->request = ret ? &ret->request : NULL;
	gethostname(run->mine.host, sizeof(run->mine.host) - 1);
	memcpy(run->mine.version, FABPERF_VERSION, sizeof(FABPERF_VERSION));
	run->mine.clock_error_ns = -1;
	rc = run_tests(run, ret, err);
	if (run->stuck) /* a worker still uses it */
		return rc;
	tear_down(run);
	rank_result_release(&run->mine);
	if (!sweep)
		sweep_release(&run->sweep);
	free(run);
	return rc;
}
