/* Bursts on the null device and a clock that the test moves: what is reported is what a trace of the posts says. */
#include "base/topo.h"
#include "driver/null.h"
#include "engine/burst.h"
#include "engine/engine.h"
#include "mem/mem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define US      INT64_C(1000)
#define MS      INT64_C(1000000)
#define SECOND  INT64_C(1000000000)
#define TICK_NS 20 /* each look at the clock takes so long */
#define SENDERS 4
#define BURSTS  1000

/* --- the clock: these stand in place of the ones in base/clock.c --- */

static struct {
	int64_t now;
	int64_t stall_at, stall; /* the worker loses its core then, for so long */
} fake;

int64_t clock_system_ns(void)
{
	fake.now += TICK_NS;
	if (fake.stall && fake.now >= fake.stall_at) {
		fake.now += fake.stall;
		fake.stall = 0;
	}
	return fake.now;
}

void clock_init(struct clock *clock, bool force_system)
{
	(void)force_system;
	*clock = (struct clock){ .read_cost_ns = TICK_NS };
}

double clock_drift_ppm(const struct clock *clock)
{
	(void)clock;
	return 0;
}

static int sleep_on(struct port *base, int64_t timeout_ns)
{
	const struct null_port *port = (const struct null_port *)base;

	if (port->head != port->tail) {
		const uint64_t due = port->runs[port->head % NULL_RUNS].due >> FRACTION_BITS;
		const int64_t left = port->epoch_ns + (int64_t)due - fake.now;

		timeout_ns = left < timeout_ns ? left : timeout_ns;
	}
	fake.now += timeout_ns > 0 ? timeout_ns : 0;
	return 0;
}

/* --- the trace: when each post returned, seen from outside --- */

static struct {
	unsigned every; /* each so many bursts one is held up, */
	int64_t delay; /* that long */
	uint64_t posts, messages;
	int64_t at[BURSTS + 1];
	uint64_t bursts;
} trace;

static int traced_post(struct ep *ep, unsigned n, unsigned flags)
{
	const bool held = trace.every && trace.bursts % trace.every == 0;
	int rc;

	fake.now += held ? trace.delay : 0;
	rc = null_post(ep, n, flags);
	if (rc <= 0)
		return rc;
	if (trace.bursts < BURSTS)
		trace.at[trace.bursts] = fake.now;
	trace.bursts++;
	trace.posts++;
	trace.messages += (uint64_t)rc;
	return rc;
}

/* --- one worker --- */

struct bench {
	struct spec spec;
	struct driver driver;
	struct clock clock;
	struct topo *topo;
	struct flow_control control;
	struct worker_result result;
	struct flow flow;
	int64_t start;
};

static struct bench *bench_new(uint32_t profile)
{
	struct bench *b = calloc(1, sizeof(*b));
	struct request request;
	struct error err;

	assert_non_null(b);
	request_init(&request);
	b->spec = request.spec;
	b->spec.driver = DRIVER_NULL;
	b->spec.transport = TRANSPORT_RC;
	b->spec.verb = VERB_WRITE;
	b->spec.size = 1000;
	b->spec.burst_profile = profile;
	b->spec.tx_depth = 256;
	b->spec.rx_depth = 1;
	b->spec.burst_size = profile == BURST_TRAINING ? 0 : 64;
	b->spec.post_batch = b->spec.cq_mod = 64;
	assert_int_equal(topo_open(&b->topo, &err), 0);
	clock_init(&b->clock, true);
	b->driver = driver_null;
	b->driver.wait = sleep_on;
	b->driver.post = traced_post;
	memset(&trace, 0, sizeof(trace));
	return b;
}

/* From the same instant in each run: ns 0 of the traffic is b->start. */
static void bench_run(struct bench *b)
{
	const struct port_conf conf = { .spec = &b->spec, .clock = &b->clock, .workers = 1, .active = true };
	const struct mem_host host = { .topo = b->topo, .node = -1, .cuda_lib_path = "", .sysfs = "/sys" };
	struct error err = { 0 };

	fake.now = SECOND;
	b->start = fake.now + SECOND;
	b->flow = (struct flow){ .spec = &b->spec,
				 .engine = engine_find(&b->spec),
				 .drv = &b->driver,
				 .clock = &b->clock,
				 .topo = b->topo,
				 .control = &b->control,
				 .active = true,
				 .peers = 1,
				 .result = &b->result };
	assert_ptr_equal(b->flow.engine, &engine_burst);
	if (flow_open(&b->flow, &conf, &host, &err))
		fail_msg("%s", err.text);
	b->flow.block = true;
	assert_int_equal(b->flow.engine->prepare(&b->flow), 0);
	b->flow.phase = (struct phase){ .start_ns = b->start,
					.begin_ns = b->start,
					.end_ns = INT64_MAX,
					.stop_ns = INT64_MAX,
					.quota = spec_quota(&b->spec),
					.measure = true };
	if (!b->flow.phase.quota)
		b->flow.phase.end_ns = b->flow.phase.stop_ns = b->start + b->spec.duration_ns;
	meter_start(&b->flow);
	if (b->flow.engine->active(&b->flow) < 0)
		fail_msg("%s", b->flow.error.text);
	flow_close(&b->flow);
}

static void bench_free(struct bench *b)
{
	free(b->result.bursts);
	topo_close(b->topo);
	free(b);
}

/* --- tests --- */

static int64_t absolute(int64_t x)
{
	return x < 0 ? -x : x;
}

static int64_t spread_in_trace(int64_t posts[SENDERS][BURSTS], unsigned k)
{
	int64_t first = INT64_MAX, last = INT64_MIN;

	for (unsigned i = 0; i < SENDERS; i++) {
		first = posts[i][k] < first ? posts[i][k] : first;
		last = posts[i][k] > last ? posts[i][k] : last;
	}
	return last - first;
}

/* Four senders with clocks of their own; the third is held up by 50 us in each tenth burst. */
static void skew_is_that_of_the_trace(void **state)
{
	static int64_t posts[SENDERS][BURSTS];
	static struct worker_result worker[SENDERS];
	struct burst_summary summary;
	struct burst_sum *sum;
	struct spec spec = { 0 };
	unsigned held = 0;

	(void)state;
	for (unsigned i = 0; i < SENDERS; i++) {
		struct bench *b = bench_new(BURST_SYNC);

		b->spec.burst_pause_ns = MS;
		b->spec.burst_count = BURSTS;
		trace.every = i == 2 ? 10 : 0;
		trace.delay = 50 * US;
		bench_run(b);
		assert_int_equal(trace.bursts, BURSTS);
		memcpy(posts[i], trace.at, sizeof(posts[i]));
		worker[i] = b->result;
		b->result.bursts = NULL;
		spec = b->spec;
		bench_free(b);
	}
	sum = burst_sum_new(&spec);
	assert_non_null(sum);
	for (unsigned i = 0; i < SENDERS; i++) {
		const struct rank_result rank = { .workers = 1, .worker = &worker[i], .clock_error_ns = 100 * (i + 1) };

		assert_int_equal(worker[i].bursts->bursts, BURSTS);
		for (unsigned k = 0; k < BURSTS; k++) {
			const struct burst_record *record = &worker[i].bursts->record[k];
			const bool late = i == 2 && k % 10 == 0;

			assert_int_equal(record->number, k);
			assert_int_equal(record->messages, 64);
			assert_true(absolute(record->rung_ns - posts[i][k]) < 100);
			assert_int_equal(record->rung_ns - record->due_ns > BURST_LATE_NS, late);
		}
		assert_int_equal(burst_sum_add(sum, &rank, NULL), 0);
	}
	burst_sum_end(sum, 1, &summary);
	for (unsigned k = 0; k < BURSTS; k++)
		held += spread_in_trace(posts, k) > 49 * US;
	assert_int_equal(held, BURSTS / 10);
	assert_int_equal(summary.senders, SENDERS);
	assert_int_equal(summary.compared, BURSTS);
	assert_int_equal(summary.complete, BURSTS);
	assert_int_equal(summary.valid, BURSTS - held);
	assert_int_equal(summary.late, held);
	assert_true(fabs(summary.skew.p50 - (double)spread_in_trace(posts, 1) / 1e3) < 0.1);
	assert_true(fabs(summary.skew.max - 50) < 0.1 && fabs(summary.skew.p95 - 50) < 0.3);
	assert_true(fabs(summary.clock_us - 0.7) < 1e-9);
	assert_true(summary.lateness.p50 < 1);
	burst_sum_free(sum);
	for (unsigned i = 0; i < SENDERS; i++)
		free(worker[i].bursts);
}

/* 64 messages of 1000 bytes take 51.2 us at 10 Gbit/s. */
static void bursts_last_as_long_as_the_link_needs(void **state)
{
	struct bench *b = bench_new(BURST_SYNC);

	(void)state;
	b->spec.burst_pause_ns = MS;
	b->spec.burst_count = 100;
	b->spec.null_rate = UINT64_C(10000000000);
	bench_run(b);
	assert_int_equal(trace.messages, 6400);
	assert_int_equal(b->result.bursts->bursts, 100);
	assert_true(absolute((int64_t)hist_percentile(&b->result.bursts->length, 50) - 51200) < 500);
	assert_true(absolute((int64_t)hist_percentile(&b->result.bursts->gap, 50) - MS) < 5 * US);
	bench_free(b);
}

/* Two bursts a period of 100 us: each other slot finds no room, and none is sent later instead. */
static void slots_without_room_are_counted(void **state)
{
	struct bench *b = bench_new(BURST_SYNC);

	(void)state;
	b->spec.burst_pause_ns = 100 * US;
	b->spec.burst_count = 200;
	b->spec.tx_depth = 64;
	b->spec.null_rate = UINT64_C(4000000000); /* a burst takes 128 us */
	bench_run(b);
	assert_int_equal(b->result.bursts->slots, 200);
	assert_int_equal(b->result.bursts->bursts, 100);
	assert_int_equal(b->result.bursts->full, 100);
	assert_int_equal(b->result.bursts->skipped + b->result.bursts->late, 0);
	assert_int_equal(trace.messages, 6400);
	bench_free(b);
}

/* A worker that is stopped for 2 ms has one late burst at most; what it missed is counted and not caught up. */
static void a_stop_makes_at_most_one_late_burst(void **state)
{
	(void)state;
	for (uint32_t profile = BURST_STORAGE; profile <= BURST_SYNC; profile++) {
		struct bench *b = bench_new(profile);

		b->spec.burst_pause_ns = 200 * US;
		b->spec.rate_limit = UINT64_C(2560000000); /* 64 messages of 1000 bytes each 200 us */
		b->spec.burst_count = 500;
		fake.stall_at = 2 * SECOND + 20 * MS + 90 * US;
		fake.stall = 2 * MS;
		bench_run(b);
		assert_int_equal(b->result.bursts->slots, 500);
		assert_int_equal(b->result.bursts->full, 0);
		assert_in_range(b->result.bursts->skipped, 9, 10);
		assert_int_equal(b->result.bursts->bursts + b->result.bursts->skipped, 500);
		assert_int_equal(b->result.bursts->late, 1);
		assert_int_equal(trace.messages, 64 * b->result.bursts->bursts);
		bench_free(b);
	}
}

/* Two queue pairs, from 1 Mb/s each to 90 % of a link of 100 Gb/s, over 60 s of the slow ones: each slot at its instant, none drifts. */
static void storage_keeps_its_rate(void **state)
{
	static const uint64_t rates[] = { 1000000, 333333333, 7000000001, 45000000000 };

	(void)state;
	for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct bench *b = bench_new(BURST_STORAGE);
		const double period = 64 * 1000 * 8 * 1e9 / (double)rates[i];
		double rate;

		b->spec.rate_limit = rates[i];
		b->spec.null_rate = UINT64_C(100000000000);
		b->spec.qps = 2;
		b->spec.duration_ns = period > 1e6 ? 60 * SECOND : SECOND / 10;
		bench_run(b);
		rate = b->result.bursts->rate / 2 * 8000;
		assert_int_equal(b->result.bursts->flows, 2);
		assert_int_equal(b->result.bursts->skipped + b->result.bursts->full, 0);
		assert_true(fabs(rate / (double)rates[i] - 1) < 1e-3);
		assert_true(absolute((int64_t)b->result.bursts->slots -
				     (int64_t)(2 * (double)b->spec.duration_ns / period)) <= 2);
		assert_true(b->result.bursts->lateness.max < 10 * US);
		bench_free(b);
	}
}

/* Bursts and pauses follow from the seed alone: all hosts have the same. */
static void training_is_the_same_everywhere(void **state)
{
	struct spec spec = { .burst_profile = BURST_TRAINING,
			     .burst_ns = MS,
			     .pause_min_ns = 2 * MS,
			     .pause_max_ns = 6 * MS,
			     .seed = 7 };
	struct burst_grid a, b;
	int64_t sum = 0;

	(void)state;
	burst_grid_init(&a, &spec, 0, SECOND);
	burst_grid_init(&b, &spec, 99, SECOND);
	for (unsigned i = 0; i < 10000; i++) {
		const int64_t before = burst_due(&a);

		burst_grid_next(&a);
		burst_grid_next(&b);
		assert_int_equal(burst_due(&a), burst_due(&b));
		assert_in_range(burst_due(&a) - before, 3 * MS, 7 * MS);
		sum += burst_due(&a) - before;
	}
	assert_true(absolute(sum / 10000 - 5 * MS) < MS / 10);
}

/* It sends as long as a burst lasts and rests in the pauses. */
static void training_is_on_and_off(void **state)
{
	struct bench *b = bench_new(BURST_TRAINING);

	(void)state;
	b->spec.burst_ns = MS;
	b->spec.pause_min_ns = b->spec.pause_max_ns = 3 * MS;
	b->spec.null_rate = UINT64_C(8000000000); /* a message a us */
	b->spec.burst_count = 50;
	bench_run(b);
	assert_int_equal(b->result.bursts->bursts, 50);
	assert_int_equal(b->result.bursts->messages, trace.messages);
	assert_true(absolute((int64_t)trace.messages - 50 * (1000 + 256)) < 50 * 64);
	assert_true(absolute((int64_t)hist_percentile(&b->result.bursts->gap, 50) - 4 * MS) < 20 * US);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(skew_is_that_of_the_trace),
		cmocka_unit_test(bursts_last_as_long_as_the_link_needs),
		cmocka_unit_test(slots_without_room_are_counted),
		cmocka_unit_test(a_stop_makes_at_most_one_late_burst),
		cmocka_unit_test(storage_keeps_its_rate),
		cmocka_unit_test(training_is_the_same_everywhere),
		cmocka_unit_test(training_is_on_and_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
