/* Bursts of four workers by the real clock, beside a trace of their posts that is taken apart from the engine: they agree. */
#include "base/topo.h"
#include "driver/null.h"
#include "engine/burst.h"
#include "engine/engine.h"
#include "mem/mem.h"
#include "spec/burst.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define SENDERS 4
#define BURSTS  400
#define HELD    2 /* the sender that is held up, */
#define EVERY   10 /* in so many bursts once, */
#define DELAY   50000 /* ns */
#define CLOSE   1000 /* ns between the two looks at the clock; 60 where nothing else runs */
#define LEAST   20 /* bursts that all senders had, to judge by */
#define TRIES   5

static int64_t raw_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* --- the trace: the kernel's clock when a post has returned --- */

static struct {
	int64_t called[SENDERS][BURSTS], at[SENDERS][BURSTS];
	unsigned bursts[SENDERS];
} trace;

static int traced_post(struct ep *ep, unsigned n, unsigned flags)
{
	const unsigned sender = null_port(ep)->conf.worker, burst = trace.bursts[sender];
	const int64_t called = raw_now(), until = called + (sender == HELD && burst % EVERY == 0 ? DELAY : 0);
	int rc;

	while (raw_now() < until)
		;
	rc = null_post(ep, n, flags);
	if (rc > 0 && burst < BURSTS) {
		trace.bursts[sender]++;
		trace.called[sender][burst] = called;
		trace.at[sender][burst] = raw_now();
	}
	return rc;
}

/* --- a run --- */

struct bench {
	struct spec spec;
	struct driver driver;
	struct clock clock;
	struct topo *topo;
	struct flow_control control;
	struct worker_result result[SENDERS];
	struct flow flow[SENDERS];
};

static void set_spec(struct spec *spec)
{
	struct request request;

	request_init(&request);
	*spec = request.spec;
	spec->driver = DRIVER_NULL;
	spec->transport = TRANSPORT_RC;
	spec->verb = VERB_WRITE;
	spec->size = 1000;
	spec->burst_profile = BURST_SYNC;
	spec->burst_size = spec->post_batch = spec->cq_mod = 8;
	spec->burst_pause_ns = 2500000;
	spec->burst_count = BURSTS;
	spec->tx_depth = 64;
	spec->rx_depth = 1;
	spec->workers = SENDERS;
}

static void open_sender(struct bench *b, unsigned i, const struct core_list *cores)
{
	const struct port_conf conf = {
		.spec = &b->spec, .clock = &b->clock, .worker = i, .workers = SENDERS, .active = true
	};
	const struct mem_host host = { .topo = b->topo, .node = -1, .cuda_lib_path = "", .sysfs = "/sys" };
	struct error err = { 0 };

	b->flow[i] = (struct flow){ .spec = &b->spec,
				    .engine = engine_find(&b->spec),
				    .drv = &b->driver,
				    .clock = &b->clock,
				    .topo = b->topo,
				    .control = &b->control,
				    .index = i,
				    .core = cores->core[i],
				    .active = true,
				    .yield = true,
				    .peers = 1,
				    .result = &b->result[i] };
	if (flow_open(&b->flow[i], &conf, &host, &err) || b->flow[i].engine->prepare(&b->flow[i]))
		fail_msg("%s", err.text);
}

static struct bench *bench_run(void)
{
	const struct core_list none = { 0 };
	struct bench *b = calloc(1, sizeof(*b));
	struct workers *workers = NULL;
	struct core_list cores;
	struct error err = { 0 };
	int64_t start;

	assert_non_null(b);
	memset(&trace, 0, sizeof(trace));
	set_spec(&b->spec);
	clock_init(&b->clock, true); /* the trace's, so that instants can be compared */
	b->driver = driver_null;
	b->driver.post = traced_post;
	assert_int_equal(topo_open(&b->topo, &err), 0);
	assert_int_equal(topo_choose(b->topo, -1, SENDERS, &none, &none, &cores, &err), 0);
	for (unsigned i = 0; i < SENDERS; i++)
		open_sender(b, i, &cores);
	start = clock_now(&b->clock) + 20000000;
	for (unsigned i = 0; i < SENDERS; i++)
		b->flow[i].phase = (struct phase){ .start_ns = start,
						   .begin_ns = start,
						   .end_ns = INT64_MAX,
						   .stop_ns = INT64_MAX,
						   .quota = spec_quota(&b->spec),
						   .measure = true };
	if (workers_start(b->flow, SENDERS, &workers, &err))
		fail_msg("%s", err.text);
	if (workers_join(workers, -1, &err))
		fail_msg("%s", err.text);
	return b;
}

static void bench_free(struct bench *b)
{
	for (unsigned i = 0; i < SENDERS; i++) {
		flow_close(&b->flow[i]);
		free(b->result[i].bursts);
	}
	topo_close(b->topo);
	free(b);
}

/* --- what the trace says --- */

static int by_value(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Index of slot `number` among a sender's bursts, -1: it has none; the trace has them in the same order. */
static int find(const struct bench *b, unsigned sender, uint64_t number)
{
	const struct burst_stats *stats = b->result[sender].bursts;

	for (unsigned i = 0; i < stats->kept; i++)
		if (stats->record[i].number == number)
			return (int)i;
	return -1;
}

/* Spread of a slot's posts by the trace and by what the engine kept; false: not all senders had it. */
static bool spreads(const struct bench *b, uint64_t number, int64_t *traced, int64_t *kept)
{
	int64_t first[2] = { INT64_MAX, INT64_MAX }, last[2] = { INT64_MIN, INT64_MIN };

	for (unsigned i = 0; i < SENDERS; i++) {
		const int at = find(b, i, number);

		if (at < 0)
			return false;
		const int64_t ns[2] = { trace.at[i][at], b->result[i].bursts->record[at].rung_ns };

		for (unsigned k = 0; k < 2; k++) {
			first[k] = ns[k] < first[k] ? ns[k] : first[k];
			last[k] = ns[k] > last[k] ? ns[k] : last[k];
		}
	}
	*traced = last[0] - first[0];
	*kept = last[1] - first[1];
	return true;
}

/* Each post of the trace lies between the engine's two looks at the clock, the sender that was held up included. */
static void check_instants(const struct bench *b)
{
	for (unsigned i = 0; i < SENDERS; i++) {
		const struct burst_stats *stats = b->result[i].bursts;

		assert_int_equal(stats->slots, BURSTS);
		assert_int_equal(stats->bursts, trace.bursts[i]);
		for (unsigned k = 0; k < stats->kept; k++) {
			const struct burst_record *record = &stats->record[k];

			assert_true(record->due_ns <= record->begun_ns);
			assert_true(record->begun_ns <= trace.called[i][k]);
			assert_true(trace.at[i][k] <= record->rung_ns);
			assert_true(i != HELD || k % EVERY || record->rung_ns - record->begun_ns >= DELAY);
		}
	}
}

/* Bursts that all senders had; how far the reported skew is from the trace's, ns: median of all bursts, and of the report's median. */
static unsigned compare(const struct bench *b, int64_t *ret)
{
	static int64_t traced[BURSTS], off[BURSTS];
	const struct rank_result rank = { .workers = SENDERS, .worker = (struct worker_result *)b->result };
	struct burst_sum *sum = burst_sum_new(&b->spec);
	struct burst_summary summary;
	unsigned all = 0;

	assert_non_null(sum);
	assert_int_equal(burst_sum_add(sum, 0, &rank), 0);
	burst_sum_end(sum, 1, &summary);
	burst_sum_free(sum);
	for (uint64_t k = 0; k < BURSTS; k++) {
		int64_t kept;

		if (!spreads(b, k, &traced[all], &kept))
			continue;
		off[all] = llabs(traced[all] - kept);
		all++;
	}
	assert_int_equal(summary.complete, all);
	if (!all)
		return 0;
	qsort(traced, all, sizeof(traced[0]), by_value);
	qsort(off, all, sizeof(off[0]), by_value);
	ret[0] = off[all / 2];
	ret[1] = llabs(llround(summary.skew.p50 * 1e3) - traced[(all - 1) / 2]) - traced[(all - 1) / 2] / 200;
	return all;
}

static void skew_is_that_of_the_trace(void **state)
{
	bool judged = false, good = false;

	(void)state;
	for (unsigned i = 0; i < TRIES && !good; i++) {
		struct bench *b = bench_run();
		int64_t off[2];

		check_instants(b);
		if (compare(b, off) >= LEAST) {
			judged = true;
			good = off[0] < CLOSE && off[1] < CLOSE;
			print_message("# the reported skew is %lld ns off in the median\n", (long long)off[0]);
		}
		bench_free(b);
	}
	if (!judged)
		skip();
	assert_true(good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(skew_is_that_of_the_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
