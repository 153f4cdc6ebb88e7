/* Bursts stay on rank 0's clock for ten minutes, on a clock that drifts, and not evenly: slots, and what is said of each burst. */
#include "orch/share.h"
#include "spec/arrivals.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define US      INT64_C(1000)
#define MS      INT64_C(1000000)
#define SECOND  INT64_C(1000000000)
#define LENGTH  600 /* s */
#define AHEAD   (1000 * SECOND)
#define TICK_NS 20

/* --- the clock: these stand in place of the ones in base/clock.c --- */

static int64_t fake_now;

int64_t clock_system_ns(void)
{
	return fake_now += TICK_NS;
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

/* This rank's clock minus rank 0's: 20 ppm, and by up to 10 us more or less as it gets warm and cold in turn. */
static int64_t truth(int64_t own_ns)
{
	const double s = (double)(own_ns - AHEAD) / 1e9;

	return AHEAD + llround(s * 20e3 + 10e3 * sin(s * 2 * M_PI / 200));
}

/* --- rank 0, which answers --- */

static unsigned pings, in_bursts;
static int64_t grid_ns, period;

static unsigned draw(unsigned below)
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned)(state >> 33) % below;
}

static int answer(struct comm *comm, const unsigned *rank, unsigned count, struct ping *ret, int64_t deadline_ns,
		  struct error *err)
{
	(void)comm;
	(void)deadline_ns;
	(void)err;
	assert_int_equal(*rank, 0);
	assert_int_equal(count, 1);
	pings++;
	in_bursts += (fake_now - truth(fake_now) - grid_ns) % period < period / 4;
	ret->t1 = clock_system_ns();
	fake_now += 3000 + draw(2) * draw(20000);
	ret->t2 = fake_now - truth(fake_now);
	fake_now += 500;
	ret->t3 = fake_now - truth(fake_now);
	fake_now += 3000 + draw(2) * draw(20000);
	ret->t4 = clock_system_ns();
	return 0;
}

static const struct comm_ops ops = { .ping = answer };

/* --- one sender --- */

struct bench {
	struct comm comm;
	struct clock clock;
	struct many_conf conf;
	struct group group;
	struct worker_result worker;
	struct many many;
	int64_t start;
};

static struct bench *bench_new(uint32_t profile, int64_t period_ns)
{
	struct bench *b = calloc(1, sizeof(*b));
	struct clock_offset point;
	struct error err = { 0 };

	assert_non_null(b);
	pings = in_bursts = 0;
	period = period_ns;
	clock_init(&b->clock, true);
	b->comm = (struct comm){ .ops = &ops, .rank = 1, .size = 2, .clock = &b->clock };
	b->conf.clock = &b->clock;
	b->group = (struct group){ .active = true, .workers = 1 };
	b->group.spec.burst_profile = profile;
	b->group.spec.burst_pause_ns = period;
	b->group.spec.burst_size = 1;
	b->group.spec.rate_limit = 1000000;
	b->group.spec.size = 1000;
	b->group.result = (struct rank_result){ .workers = 1, .worker = &b->worker };
	b->worker.bursts = burst_stats_new();
	b->worker.arrivals = burst_arrivals_new();
	assert_true(b->worker.bursts && b->worker.arrivals);
	b->many.comm = &b->comm;
	b->many.conf = &b->conf;
	b->many.share.groups = 1;
	b->many.share.group = &b->group;
	fake_now = AHEAD + SECOND;
	assert_int_equal(clocks_init(&b->many.clocks, 2, &err), 0);
	point = (struct clock_offset){ .offset_ns = truth(fake_now) + 900,
				       .error_ns = 3000,
				       .at_ns = fake_now - truth(fake_now) };
	clockfit_add(&b->many.clocks.fit[1], &point);
	b->start = fake_now + 20 * MS;
	grid_ns = b->start - truth(b->start);
	resync_begin(&b->many, b->start);
	return b;
}

static void bench_free(struct bench *b)
{
	clocks_release(&b->many.clocks);
	free(b->worker.bursts);
	free(b->worker.arrivals);
	free(b);
}

/* A burst at each slot, where the clock is thought to be, and what comes of another sender's. Returns how far off it was on rank 0's clock. */
static int64_t post(struct bench *b, uint64_t number)
{
	const int64_t due = b->start + (int64_t)number * period;
	const int64_t at = due + flow_shift(&b->many.share.control, due);
	const struct burst_record record = {
		.number = number, .due_ns = at, .begun_ns = at, .rung_ns = at, .posted_ns = at, .messages = 1
	};

	burst_keep(b->worker.bursts, &record);
	burst_arrived(b->worker.arrivals, number, at + 5 * US, 1);
	return llabs(at - truth(at) - (grid_ns + (int64_t)number * period));
}

static void run(struct bench *b, uint64_t bursts, int64_t *worst)
{
	struct error err = { 0 };

	*worst = 0;
	for (uint64_t i = 0; i < bursts; i++) {
		const int64_t until = b->start + (int64_t)(i + 1) * period + truth(fake_now) - AHEAD;
		const int64_t off = post(b, i);

		*worst = off > *worst ? off : *worst;
		while (b->many.resync.next_ns < until) {
			fake_now = b->many.resync.next_ns > fake_now ? b->many.resync.next_ns : fake_now;
			assert_int_equal(resync_step(&b->many, &err), 0);
		}
		fake_now = until > fake_now ? until : fake_now;
	}
}

static void measure_after(struct bench *b)
{
	const struct clock_offset point = { .offset_ns = truth(fake_now) - 900,
					    .error_ns = 3000,
					    .at_ns = fake_now - truth(fake_now) };

	clockfit_add(&b->many.clocks.fit[1], &point);
	resync_end(&b->many);
}

/* The clock gains 12 ms in that time; slots do not. What is said of each burst afterwards is better still, and knows how good it is. */
static void slots_stay_on_the_clock_of_rank_0(void **state)
{
	struct bench *b = bench_new(BURST_SYNC, 2 * MS);
	const struct burst_stats *stats = b->worker.bursts;
	const struct burst_arrivals *came = b->worker.arrivals;
	unsigned outside = 0;
	int64_t worst;

	(void)state;
	run(b, (uint64_t)(LENGTH * SECOND / period), &worst);
	assert_true(worst < 15 * US); /* the first 250 ms, whose drift nobody knows yet, among them */
	assert_in_range(pings, 4 * LENGTH, 4 * LENGTH * CLOCKS_GAP_ROUNDS);
	assert_int_equal(in_bursts, 0);
	measure_after(b);
	assert_true(stats->followed);
	assert_true(stats->clock_u95_ns <= stats->clock_error_ns && stats->clock_error_ns < 5 * US);
	assert_true(came->followed && came->kept == stats->kept);
	for (uint64_t i = burst_first_kept(stats); i < stats->kept; i++) {
		const struct burst_record *record = &stats->record[i % BURST_KEPT];
		const struct burst_arrival *arrival = &came->record[i % BURST_KEPT];
		const int64_t off = llabs(record->offset_ns - truth(record->rung_ns));

		assert_true(off <= stats->clock_error_ns);
		assert_true(llabs(arrival->offset_ns - truth(arrival->first_ns)) <= stats->clock_error_ns);
		outside += off > stats->clock_u95_ns;
	}
	assert_true(outside < BURST_KEPT / 20);
	bench_free(b);
}

/* Gaps in which it could be asked many times: it is not, and what is known of the drift spans many of them. */
static void long_gaps_are_not_filled_with_questions(void **state)
{
	struct bench *b = bench_new(BURST_SYNC, SECOND);
	int64_t worst;

	(void)state;
	run(b, LENGTH, &worst);
	assert_true(worst < 15 * US);
	assert_in_range(pings, LENGTH, LENGTH * CLOCKS_GAP_ROUNDS);
	assert_int_equal(in_bursts, 0);
	measure_after(b);
	assert_true(b->worker.bursts->clock_error_ns < 5 * US);
	bench_free(b);
}

/* Too short for anything to be asked: the line from the measurement before to that after it. */
static void a_short_run_has_its_ends(void **state)
{
	struct bench *b = bench_new(BURST_SYNC, 2 * MS);
	const struct burst_stats *stats = b->worker.bursts;
	int64_t worst;

	(void)state;
	b->many.resync.next_ns = INT64_MAX;
	run(b, 100, &worst);
	assert_int_equal(pings, 0);
	measure_after(b);
	for (uint64_t i = 0; i < stats->kept; i++)
		assert_true(llabs(stats->record[i].offset_ns - truth(stats->record[i].rung_ns)) <=
			    stats->clock_error_ns);
	assert_true(stats->clock_error_ns < 4 * US);
	bench_free(b);
}

/* Instants that are nobody else's need no clock of anybody else. */
static void storage_asks_nobody(void **state)
{
	struct bench *b = bench_new(BURST_STORAGE, 2 * MS);
	int64_t worst;

	(void)state;
	run(b, 1000, &worst);
	assert_int_equal(pings, 0);
	measure_after(b);
	assert_false(b->worker.bursts->followed);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_stay_on_the_clock_of_rank_0),
		cmocka_unit_test(long_gaps_are_not_filled_with_questions),
		cmocka_unit_test(a_short_run_has_its_ends),
		cmocka_unit_test(storage_asks_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
