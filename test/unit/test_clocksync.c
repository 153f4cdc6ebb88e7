/* Clock offsets from simulated and real ping-pongs: whatever the delays are, the true offset lies within the bound. */
#include "orch/clockfit.h"

#include "comm_pair.h"

#include <math.h>

/* A communicator whose only call is a ping over a simulated path; its clock starts anywhere. */
struct path {
	struct comm comm;
	int64_t now_ns, offset_ns; /* our clock; their clock minus ours */
	int64_t from_ns; /* since when it drifts by */
	double drift;
	int64_t there_ns, back_ns, spread_ns; /* least delays, and what chance adds to them */
	unsigned random, pings, fails_at;
};

static unsigned next_random(struct path *path)
{
	path->random = path->random * 1664525u + 1013904223u;
	return path->random >> 8;
}

/* Mostly small, sometimes the whole spread: as queues and schedulers do it. */
static int64_t extra(struct path *path)
{
	const int64_t spread = path->spread_ns + 1;

	return next_random(path) % 8 ? next_random(path) % (spread / 50 + 1) : next_random(path) % spread;
}

static int64_t true_offset(const struct path *path)
{
	return path->offset_ns + llround(path->drift * (double)(path->now_ns - path->from_ns));
}

static int path_ping(struct comm *comm, const unsigned *rank, unsigned count, struct ping *ret, int64_t deadline_ns,
		     struct error *err)
{
	struct path *path = (struct path *)comm;

	(void)deadline_ns;
	assert_int_equal(*rank, 1);
	assert_int_equal(count, 1);
	if (++path->pings == path->fails_at)
		return error_set(err, -ETIMEDOUT, "no answer");
	ret->t1 = path->now_ns;
	path->now_ns += path->there_ns + extra(path);
	ret->t2 = path->now_ns + true_offset(path);
	path->now_ns += 1 + next_random(path) % 5000;
	ret->t3 = path->now_ns + true_offset(path);
	path->now_ns += path->back_ns + extra(path);
	ret->t4 = path->now_ns;
	path->now_ns += next_random(path) % 1000;
	return 0;
}

static const struct comm_ops path_ops = { .ping = path_ping };

static struct path path_make(int64_t offset_ns, int64_t there_ns, int64_t back_ns, int64_t spread_ns)
{
	return (struct path){ .comm = { .ops = &path_ops, .size = 2, .peer_name = "far" },
			      .now_ns = INT64_C(123456789012345),
			      .offset_ns = offset_ns,
			      .there_ns = there_ns,
			      .back_ns = back_ns,
			      .spread_ns = spread_ns,
			      .random = (unsigned)(there_ns * 7 + back_ns) };
}

static void the_true_offset_is_within_the_bound(void **state)
{
	static const int64_t offsets[] = { 0, 1, -1, 999, -123456789, INT64_C(86400000000000) };
	static const int64_t delays[] = { 0, 1, 800, 15000, 2000000 };
	static const int64_t spreads[] = { 0, 300, 5000000 };

	(void)state;
	for (unsigned o = 0; o < 6; o++)
		for (unsigned d = 0; d < 5 * 5 * 3; d++) {
			struct path path = path_make(offsets[o], delays[d % 5], delays[d / 5 % 5], spreads[d / 25]);
			struct clock_offset found;
			struct error err = { 0 };

			assert_int_equal(clocksync_measure(&path.comm, 1, 0, &found, 0, &err), 0);
			assert_true(llabs(found.offset_ns - path.offset_ns) <= found.error_ns);
			assert_true(found.error_ns >= (path.there_ns + path.back_ns) / 2);
			assert_true(found.at_ns == path.now_ns || found.at_ns > path.now_ns - 1000);
			assert_int_equal(found.rounds, path.pings);
		}
}

/* With equal delays and rare disturbances the best of many is near the truth, not only within its bound. */
static void equal_delays_give_the_offset_itself(void **state)
{
	struct path path = path_make(-5000000, 10000, 10000, 3000);
	struct clock_offset found;
	struct error err = { 0 };

	(void)state;
	assert_int_equal(clocksync_measure(&path.comm, 1, 1000, &found, 0, &err), 0);
	assert_true(llabs(found.offset_ns - path.offset_ns) <= 60);
	assert_in_range(found.error_ns, 10000, 10200);
}

static void it_ends_when_nothing_gets_better(void **state)
{
	struct path path = path_make(42, 500, 500, 0);
	struct clock_offset found;
	struct error err = { 0 };

	(void)state;
	assert_int_equal(clocksync_measure(&path.comm, 1, 0, &found, 0, &err), 0);
	assert_int_equal(found.rounds, 1 + CLOCKSYNC_PATIENT);
	assert_int_equal(found.offset_ns, 42);
	assert_in_range(found.error_ns, 500, 500 + CLOCKSYNC_PATIENT * 2); /* what it may have drifted meanwhile */
	assert_int_equal(clocksync_measure(&path.comm, 1, 3, &found, 0, &err), 0);
	assert_int_equal(found.rounds, 3);
}

static void a_lost_ping_is_an_error_and_leaves_no_result(void **state)
{
	struct path path = path_make(42, 500, 500, 100);
	struct clock_offset found = { .offset_ns = 7 };
	struct error err = { 0 };

	(void)state;
	path.fails_at = 5;
	assert_int_equal(clocksync_measure(&path.comm, 1, 0, &found, 0, &err), -ETIMEDOUT);
	assert_string_equal(err.text, "no answer");
	assert_int_equal(found.offset_ns, 7);
}

static void impossible_stamps_are_refused(void **state)
{
	static const struct ping pings[] = {
		{ 100, 50, 40, 200 }, /* answered before it came */
		{ 100, 500, 900, 200 }, /* took longer there than the whole trip */
		{ INT64_MIN, INT64_MAX, INT64_MAX, 0 },
		{ 0, INT64_MIN, INT64_MAX, 1 },
	};
	struct clock_offset found = { .offset_ns = 7 };

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(clocksync_judge(&pings[i], &found), -EPROTO);
	assert_int_equal(found.offset_ns, 7);
}

static int wait_for_finish(struct comm *comm, void *arg)
{
	struct error err = { 0 };
	struct note note;

	(void)arg;
	EXPECT(!comm_wait(comm, 10 * SECOND, &note, &err) && note.kind == NOTE_FINISH);
	return 0;
}

/* Both ends read the same clock: the offset is zero. */
static void the_same_clock_is_found_equal(void **state)
{
	const struct note finish = { .kind = NOTE_FINISH };
	struct clock_offset found;
	struct error err = { 0 };
	struct peer peer;
	struct comm *comm = pair_open(&peer, wait_for_finish, NULL);

	(void)state;
	assert_int_equal(clocksync_measure(comm, 1, 0, &found, in_seconds(5), &err), 0);
	assert_true(llabs(found.offset_ns) <= found.error_ns);
	assert_true(found.error_ns < SECOND / 10);
	assert_int_equal(comm_note(comm, &finish, &err), 0);
	pair_close(&peer, comm);
}

static void a_clock_that_jumps_is_found(void **state)
{
	struct path path = path_make(0, 1000, 1000, 0);
	struct clock_offset found;
	struct error err = { 0 };

	(void)state;
	path.drift = 0.2;
	path.from_ns = path.now_ns;
	assert_int_equal(clocksync_measure(&path.comm, 1, 0, &found, 0, &err), -EPROTO);
	assert_non_null(strstr(err.text, "clock of host 'far' jumps"));
}

/* One more point after a while, as a run takes it. */
static void measure_after(struct path *path, int64_t pause_ns, struct clockfit *fit)
{
	struct clock_offset found;
	struct error err = { 0 };

	path->now_ns += pause_ns;
	assert_int_equal(clocksync_measure(&path->comm, 1, 20, &found, 0, &err), 0);
	clockfit_add(fit, &found);
}

struct covered {
	unsigned bound, u95, near;
	double widest;
};

/* 100 clocks that drift, over one kind of path, each found `points` times 100 ms apart and read some ms later. */
static struct covered cover(unsigned points, int64_t there_ns, int64_t back_ns, int64_t spread_ns, int64_t later_ns)
{
	struct covered ret = { 0 };

	for (unsigned i = 0; i < 100; i++) {
		struct path path = path_make(INT64_C(1000000000000) * (i % 5), there_ns, back_ns, spread_ns);
		struct clockfit fit = { 0 };
		struct clock_reading reading;
		int64_t error;

		path.random += i * 7919;
		path.drift = ((double)i - 50) * 1e-6;
		path.from_ns = path.now_ns;
		for (unsigned k = 0; k < points; k++)
			measure_after(&path, 100000000, &fit);
		path.now_ns += later_ns;
		clockfit_at(&fit, path.now_ns, &reading);
		error = llabs(reading.offset_ns - true_offset(&path));
		ret.bound += error <= reading.bound_ns;
		ret.u95 += error <= reading.u95_ns;
		ret.near += error <= 50000;
		ret.widest = fmax(ret.widest, (double)reading.u95_ns);
		assert_true(reading.u95_ns <= reading.bound_ns);
	}
	return ret;
}

/* Paths that take twice as long, or only one way, have an error that no ping shows: it is inside what is reported. */
static void what_is_reported_covers_the_true_error(void **state)
{
	static const int64_t ways[][2] = { { 10000, 10000 }, { 8000, 16000 }, { 30000, 5000 }, { 0, 20000 } };

	(void)state;
	for (unsigned w = 0; w < 4; w++)
		for (unsigned points = 1; points <= 40; points += 3) {
			const struct covered c = cover(points, ways[w][0], ways[w][1], 40000, 20000000);

			assert_int_equal(c.bound, 100);
			assert_in_range(c.u95, 95, 100);
			assert_int_equal(c.near, 100);
			assert_true(c.widest < 50000);
		}
}

/* A line through many points tells what comes: a second later it is known better than any single one would be. */
static void drift_is_told(void **state)
{
	const struct covered one = cover(1, 10000, 12000, 2000, 1000000000);
	const struct covered many = cover(20, 10000, 12000, 2000, 1000000000);

	(void)state;
	assert_int_equal(one.bound, 100);
	assert_true(one.widest > 200000);
	assert_int_equal(many.bound, 100);
	assert_in_range(many.u95, 95, 100);
	assert_true(many.widest < 15000);
}

static void points_of_one_instant_make_no_line(void **state)
{
	struct clockfit fit = { 0 };
	struct clock_reading reading;

	(void)state;
	clockfit_add(&fit, &(struct clock_offset){ .offset_ns = 1000, .error_ns = 300, .at_ns = 5 });
	clockfit_add(&fit, &(struct clock_offset){ .offset_ns = 900, .error_ns = 200, .at_ns = 5 });
	clockfit_at(&fit, 5, &reading);
	assert_int_equal(reading.offset_ns, 900);
	assert_in_range(reading.bound_ns, 200, 202);
	assert_true(reading.drift == 0);
	clockfit_add(&fit, &(struct clock_offset){ .offset_ns = 2000000, .error_ns = 200, .at_ns = 1000000000 });
	clockfit_at(&fit, 1000000000, &reading); /* 2000 ppm is no drift */
	assert_int_equal(reading.offset_ns, 2000000);
	assert_true(reading.drift == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_true_offset_is_within_the_bound),
		cmocka_unit_test(equal_delays_give_the_offset_itself),
		cmocka_unit_test(it_ends_when_nothing_gets_better),
		cmocka_unit_test(a_lost_ping_is_an_error_and_leaves_no_result),
		cmocka_unit_test(impossible_stamps_are_refused),
		cmocka_unit_test(the_same_clock_is_found_equal),
		cmocka_unit_test(a_clock_that_jumps_is_found),
		cmocka_unit_test(what_is_reported_covers_the_true_error),
		cmocka_unit_test(drift_is_told),
		cmocka_unit_test(points_of_one_instant_make_no_line),
	};

	return cmocka_run_group_tests(tests, pair_clock_init, NULL);
}
