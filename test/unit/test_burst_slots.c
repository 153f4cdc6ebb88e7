/* Slots that come too fast, too late or too close: the link is used, and each slot of the window is counted once. */
#include "burst_bench.h"

#include <errno.h>

/* A slot each 10 ns: nobody can fill them, but the link is busy all the time. */
static void too_many_slots_leave_no_gap(void **state)
{
	struct bench *b = bench_new(BURST_STORAGE);
	const struct burst_stats *stats;

	(void)state;
	b->spec.rate_limit = UINT64_C(51200000000000);
	b->spec.null_rate = UINT64_C(10000000000);
	b->spec.duration_ns = 100 * MS;
	bench_run(b);
	stats = b->result.bursts;
	assert_int_equal(stats->slots, stats->bursts + stats->skipped + stats->full);
	assert_in_range(stats->slots, 9990000, 10000001);
	assert_in_range(trace.messages, 124000, 126000);
	bench_free(b);
}

/* A burst takes 90 us of a period of 100 us, for the last 20 of which only the clock is looked at. */
static void what_is_done_makes_room(void **state)
{
	struct bench *b = bench_new(BURST_SYNC);

	(void)state;
	b->spec.burst_pause_ns = 100 * US;
	b->spec.burst_count = 200;
	b->spec.tx_depth = 64;
	b->spec.null_rate = UINT64_C(5700000000);
	bench_run(b);
	assert_int_equal(b->result.bursts->bursts, 200);
	assert_int_equal(b->result.bursts->full + b->result.bursts->late, 0);
	bench_free(b);
}

/* Away from the middle of the window until long behind its end, or from before it: what was due in it counts, and no more. */
static void only_slots_of_the_window_count(void **state)
{
	(void)state;
	for (unsigned early = 0; early < 2; early++) {
		struct bench *b = bench_new(BURST_SYNC);
		const struct burst_stats *stats;

		b->spec.burst_pause_ns = 200 * US;
		b->spec.duration_ns = 100 * MS;
		b->spec.warmup_ns = early ? 20 * MS : 0;
		fake.stall_at = 2 * SECOND + (early ? 10 : 50) * MS + 90 * US;
		fake.stall = early ? 30 * MS : 100 * MS;
		bench_run(b);
		stats = b->result.bursts;
		assert_int_equal(stats->slots, 500);
		assert_int_equal(stats->slots, stats->bursts + stats->skipped + stats->full);
		bench_free(b);
	}
}

static int64_t absolute(int64_t x)
{
	return x < 0 ? -x : x;
}

/* A clock that gains 20 ppm on rank 0's, and says so: slots move with it, are none the later for it, and none is lost. */
static void slots_follow_the_clock(void **state)
{
	struct bench *b = bench_new(BURST_SYNC);

	(void)state;
	b->spec.burst_pause_ns = MS;
	b->spec.burst_count = BURSTS;
	flow_shift_set(&b->control, 2 * SECOND, 7 * US, 20e-6);
	bench_run(b);
	assert_int_equal(b->result.bursts->slots, BURSTS);
	assert_int_equal(b->result.bursts->bursts, BURSTS);
	assert_int_equal(b->result.bursts->late, 0);
	for (unsigned k = 0; k < BURSTS; k++)
		assert_in_range(trace.at[k] - b->start - k * MS - 7 * US - k * 20, 0, 200);
	bench_free(b);
}

/* Storage has no instants in common with others: its rate is by the own clock. */
static void storage_does_not_follow(void **state)
{
	struct bench *b = bench_new(BURST_STORAGE);
	int64_t first;

	(void)state;
	b->spec.rate_limit = UINT64_C(512000000); /* 64 messages of 1000 bytes each ms */
	b->spec.burst_count = BURSTS;
	flow_shift_set(&b->control, 2 * SECOND, 7 * US, 20e-6);
	bench_run(b);
	first = trace.at[0];
	assert_int_equal(b->result.bursts->bursts, BURSTS);
	for (unsigned k = 0; k < BURSTS; k++)
		assert_true(absolute(trace.at[k] - first - k * MS) < 200);
	bench_free(b);
}

static int poll_nothing(struct port *port, struct done *done, int max)
{
	(void)port;
	(void)done;
	(void)max;
	fake.now += MS;
	return 0;
}

/* Completions never come: the bursts were sent all the same, each slot is counted once, and their ends are not known. */
static void what_is_cut_off_counts(void **state)
{
	struct bench *b = bench_new(BURST_SYNC);
	const struct burst_stats *stats;

	(void)state;
	b->spec.burst_pause_ns = 20 * MS;
	b->spec.duration_ns = 200 * MS;
	b->spec.tx_depth = 256; /* four bursts of 64 */
	b->driver.poll = poll_nothing;
	bench_start(b);
	assert_int_equal(b->flow.engine->active(&b->flow), -ETIMEDOUT);
	flow_close(&b->flow);
	stats = b->result.bursts;
	assert_int_equal(stats->slots, 10);
	assert_int_equal(stats->bursts, 4);
	assert_int_equal(stats->bursts + stats->skipped + stats->full, 10);
	assert_int_equal(stats->messages, trace.messages);
	for (uint64_t i = 0; i < stats->kept; i++)
		assert_int_equal(stats->record[i].done_ns, 0);
	bench_free(b);
}

/* ns from the phase to slot k, by division: size bits of a burst at a rate, rounded down. */
static int64_t closed_form(uint64_t k, uint64_t bits, uint64_t rate)
{
	return (int64_t)((unsigned __int128)k * bits * 1000000000u / rate);
}

/* Storage's slots after ten million steps, one by one and all at once, are where they belong, to the ns: nothing adds up. */
static void slots_do_not_drift(void **state)
{
	static const uint64_t rates[] = { 1000000, 37000001, 333333333, 7000000001, 90000000000, 360000000000 };

	(void)state;
	for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		const uint64_t bits = 64 * 1000 * 8, steps = 10000000;
		const struct spec spec = {
			.burst_profile = BURST_STORAGE, .burst_size = 64, .size = 1000, .rate_limit = rates[i]
		};
		struct burst_grid grid, far;
		int64_t first;

		burst_grid_init(&grid, &spec, 0, SECOND);
		far = grid;
		first = burst_due(&grid);
		for (uint64_t k = 0; k < steps; k++)
			burst_grid_next(&grid);
		assert_in_range(burst_due(&grid) - first - closed_form(steps, bits, rates[i]), 0, 1);
		assert_int_equal(burst_grid_skip(&far, burst_due(&grid) + 1), steps);
		assert_int_equal(burst_due(&far), burst_due(&grid));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(too_many_slots_leave_no_gap),
		cmocka_unit_test(what_is_done_makes_room),
		cmocka_unit_test(only_slots_of_the_window_count),
		cmocka_unit_test(what_is_cut_off_counts),
		cmocka_unit_test(slots_do_not_drift),
		cmocka_unit_test(slots_follow_the_clock),
		cmocka_unit_test(storage_does_not_follow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
