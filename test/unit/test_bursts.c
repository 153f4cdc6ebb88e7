/* Bursts on the null device and a clock that the test moves: what is reported is what a trace of the posts says. */
#include "burst_bench.h"

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
		assert_int_equal(burst_sum_add(sum, i, &rank), 0);
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

static void paced_caps(const struct port *port, struct caps *ret)
{
	driver_null.caps(port, ret);
	ret->paces = true;
}

/* A burst of 64 leaves each 200 us: the queue never runs dry, and what comes of it is told by completions alone. */
static void a_device_paces(void **state)
{
	struct bench *b = bench_new(BURST_STORAGE);
	const struct burst_stats *stats;

	(void)state;
	b->driver.caps = paced_caps;
	b->spec.rate_limit = b->spec.null_rate = UINT64_C(2560000000);
	b->spec.burst_count = 100;
	b->spec.tx_depth = 128;
	bench_run(b);
	stats = b->result.bursts;
	assert_true(stats->by_device);
	assert_int_equal(stats->slots, 100);
	assert_int_equal(stats->bursts, 100);
	assert_int_equal(stats->messages, 6400);
	assert_int_equal(trace.messages, 6400);
	assert_int_equal(stats->late + stats->skipped + stats->full + stats->lateness.count + stats->length.count, 0);
	assert_int_equal(stats->gap.count, 99);
	assert_true(absolute((int64_t)hist_percentile(&stats->gap, 50) - 200 * US) < US);
	assert_int_equal(stats->flows, 1);
	assert_true(fabs(stats->rate - 320000) < 320);
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
		cmocka_unit_test(a_device_paces),
		cmocka_unit_test(training_is_the_same_everywhere),
		cmocka_unit_test(training_is_on_and_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
