/* The clocks of ranks that are threads: known to all, checked between pairs, and between two measurements. */
#include "mpi_ranks.h"

#include "orch/clocks.h"

#define AHEAD_NS INT64_C(1000000000000) /* of a rank's clock before that of the rank before */
#define OWN_NS   20000 /* by which clocks of one machine differ that were calibrated by themselves */

static int check_clock(const struct clocks *clocks, unsigned rank, int64_t now_ns, int64_t ahead_ns, struct error *err)
{
	struct clock_reading reading;

	clocks_at(clocks, rank, now_ns, &reading);
	if (llabs(reading.offset_ns - ahead_ns) > reading.bound_ns + OWN_NS ||
	    llabs(clocks_own(clocks, rank, now_ns) - now_ns - ahead_ns) > reading.bound_ns + OWN_NS)
		return error_set(err, -EPROTO, "rank %u is %lld ns ahead", rank, (long long)reading.offset_ns);
	return 0;
}

/* All know all clocks, which lie 1000 s apart, and pairs of ranks agree with rank 0. */
static int sync_clocks(struct comm *comm, struct error *err)
{
	struct clock *clock = (struct clock *)(uintptr_t)comm->clock;
	const int64_t ahead = clock->mult ? AHEAD_NS : 0; /* where the kernel's is read they cannot be moved */
	struct clocks clocks;
	int rc;

	clock->ns0 += ahead * comm->rank;
	rc = clocks_init(&clocks, RANKS, err);
	for (unsigned i = 0; rc == 0 && i < 5; i++)
		rc = clocks_sync(&clocks, comm, i ? CLOCKS_GAP_ROUNDS : 0, in(comm, LONG_NS), err);
	if (rc == 0)
		rc = clocks_test(&clocks, comm, in(comm, LONG_NS), err);
	for (unsigned i = 0; rc == 0 && i < RANKS; i++)
		rc = check_clock(&clocks, i, clocks_root(&clocks, comm->rank, clock_now(clock)), ahead * i, err);
	if (rc == 0 && comm->rank == 0 && (!clocks.closure.pairs || clocks.closure.outside))
		rc = error_set(err, -EPROTO, "%u of %u pairs", clocks.closure.outside, clocks.closure.pairs);
	clocks_release(&clocks);
	return rc;
}

/* Shared, with no offset and the error of a reading. */
static bool is_one(const struct clocks *clocks, unsigned rank, const struct clock *clock)
{
	struct clock_reading reading;

	clocks_at(clocks, rank, clock_now(clock), &reading);
	return clocks->shared[rank] && reading.offset_ns == 0 &&
	       (!rank || clocks->fit[rank].point[0].error_ns == 2 * clock->read_cost_ns);
}

static int check_shares(struct clocks *clocks, const struct clock *clock, struct error *err)
{
	const unsigned elsewhere = clock->mult ? 2 : RANKS; /* where the kernel's is read none can be */
	struct clock_offset wrong = { .offset_ns = 3000, .error_ns = 2999 };

	for (unsigned i = 0; i < RANKS; i++)
		if (is_one(clocks, i, clock) == (i == elsewhere))
			return error_set(err, -EPROTO, "rank %u is %s", i, clocks->shared[i] ? "shared" : "not shared");
	if (clock_settle(clocks, &clocks->shared[1], &wrong) || clocks->shared[1] || wrong.offset_ns != 3000)
		return error_set(err, -EPROTO, "pings that contradict it do not matter");
	return 0;
}

/* Ranks of one machine make rank 0's clock theirs; one that is elsewhere in time keeps its own, and is measured. */
static int share_clocks(struct comm *comm, struct error *err)
{
	struct clock *clock = (struct clock *)(uintptr_t)comm->clock;
	struct clocks clocks;
	int rc;

	clock->ns0 += clock->mult && comm->rank == 2 ? AHEAD_NS : 0;
	rc = clocks_init(&clocks, RANKS, err);
	if (rc == 0)
		rc = clocks_share(&clocks, comm, clock, in(comm, LONG_NS), err);
	if (rc == 0)
		rc = clocks_sync(&clocks, comm, 0, in(comm, LONG_NS), err);
	if (rc == 0)
		rc = check_shares(&clocks, clock, err);
	clocks_release(&clocks);
	return rc;
}

static void test_clocks_of_one_machine_are_one(void **state)
{
	(void)state;
	all_do(share_clocks);
}

static void test_clocks_are_known_to_all(void **state)
{
	(void)state;
	all_do(sync_clocks);
}

/* What of it travels: an instant of the rank's clock, brought to rank 0's along the line through both measurements. */
static void test_a_clock_between_its_measurements(void **state)
{
	const struct part_clock clock = { .offset_ns = { AHEAD_NS, AHEAD_NS + 1000 }, .at_ns = { 5000, 1005000 } };
	struct closure closure = { .pairs = 3, .outside = 1, .median_ns = 4, .p95_ns = 5, .max_ns = 6 }, back;
	const struct part_clock once = { .offset_ns = { 7, 9 }, .at_ns = { 5, 5 } };
	struct buf data = BUF_INIT;
	struct cursor from;

	(void)state;
	assert_int_equal(part_clock_at(&clock, AHEAD_NS + 5000), AHEAD_NS);
	assert_int_equal(part_clock_at(&clock, AHEAD_NS + 505000), AHEAD_NS + 500);
	assert_int_equal(part_clock_at(&clock, AHEAD_NS + 2005000), AHEAD_NS + 2000);
	assert_int_equal(part_clock_at(&once, 1000), 7);
	part_closure_pack(&closure, &data);
	cursor_init(&from, data.data, data.len);
	assert_int_equal(part_closure_unpack(&back, &from), 0);
	assert_memory_equal(&back, &closure, sizeof(back));
	assert_int_equal(part_closure_unpack(&back, &from), -EPROTO);
	buf_release(&data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clocks_are_known_to_all),
		cmocka_unit_test(test_clocks_of_one_machine_are_one),
		cmocka_unit_test(test_a_clock_between_its_measurements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
