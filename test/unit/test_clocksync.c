/* Clock offsets from simulated and real ping-pongs: whatever the delays are, the true offset lies within the bound. */
#include "orch/clocksync.h"

#include "comm_pair.h"

/* A communicator whose only call is a ping over a simulated path; its clock starts anywhere. */
struct path {
	struct comm comm;
	int64_t now_ns, offset_ns; /* our clock; their clock minus ours */
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

static int path_ping(struct comm *comm, unsigned rank, struct ping *ret, int64_t deadline_ns, struct error *err)
{
	struct path *path = (struct path *)comm;

	(void)deadline_ns;
	assert_int_equal(rank, 1);
	if (++path->pings == path->fails_at)
		return error_set(err, -ETIMEDOUT, "no answer");
	ret->t1 = path->now_ns;
	path->now_ns += path->there_ns + extra(path);
	ret->t2 = path->now_ns + path->offset_ns;
	path->now_ns += 1 + next_random(path) % 5000;
	ret->t3 = path->now_ns + path->offset_ns;
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
	assert_in_range(found.error_ns, 10000, 10060);
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
	assert_int_equal(found.error_ns, 500);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_true_offset_is_within_the_bound),
		cmocka_unit_test(equal_delays_give_the_offset_itself),
		cmocka_unit_test(it_ends_when_nothing_gets_better),
		cmocka_unit_test(a_lost_ping_is_an_error_and_leaves_no_result),
		cmocka_unit_test(impossible_stamps_are_refused),
		cmocka_unit_test(the_same_clock_is_found_equal),
	};

	return cmocka_run_group_tests(tests, pair_clock_init, NULL);
}
