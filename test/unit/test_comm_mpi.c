/* The communicator over the MPI plug-in, with ranks that are threads. */
#include "mpi_ranks.h"

#include "orch/clocksync.h"

static void put(struct buf *b, const char *text)
{
	buf_clear(b);
	buf_put(b, text, strlen(text) + 1);
}

/* What rank 0 has of all: its own word behind each number. */
static int check_words(const struct buf *all, const char *word, struct error *err)
{
	char text[32];

	for (unsigned i = 0; i < RANKS; i++) {
		snprintf(text, sizeof(text), "%u %s", i, word);
		if (strcmp((char *)all[i].data, text) != 0)
			return error_set(err, -EPROTO, "rank %u said '%s'", i, (char *)all[i].data);
	}
	return 0;
}

/* A broadcast, then what everybody makes of it at rank 0. */
static int talk_once(struct comm *comm, const char *what, struct buf *all, struct error *err)
{
	struct buf word = BUF_INIT, mine = BUF_INIT;
	char text[32];
	int rc;

	if (comm->rank == 0)
		put(&word, what);
	rc = comm_bcast(comm, &word, in(comm, LONG_NS), err);
	snprintf(text, sizeof(text), "%u %s", comm->rank, rc ? "" : (char *)word.data);
	put(&mine, text);
	if (rc == 0)
		rc = comm_gather(comm, &mine, all, in(comm, LONG_NS), err);
	buf_release(&word);
	buf_release(&mine);
	return rc == 0 && comm->rank == 0 ? check_words(all, what, err) : rc;
}

/* Twice, so that the calls could be mistaken for each other. */
static int talk(struct comm *comm, struct error *err)
{
	struct buf all[RANKS] = { BUF_INIT };
	int rc = talk_once(comm, "first", all, err);

	if (rc == 0)
		rc = talk_once(comm, "second", all, err);
	for (unsigned i = 0; i < RANKS; i++)
		buf_release(&all[i]);
	return rc;
}

static void test_collective_calls(void **state)
{
	(void)state;
	all_do(talk);
}

/* Only neighbours on a ring have something for each other. */
static int swap(struct comm *comm, struct error *err)
{
	struct buf to[RANKS] = { BUF_INIT }, from[RANKS] = { BUF_INIT };
	int rc;

	for (unsigned i = 0; i < RANKS; i++)
		if (i == (comm->rank + 1) % RANKS || comm->rank == (i + 1) % RANKS)
			put(&to[i], names[comm->rank]);
	rc = comm_exchange(comm, to, from, in(comm, LONG_NS), err);
	for (unsigned i = 0; i < RANKS; i++) {
		if (rc == 0 && (from[i].len != to[i].len || (to[i].len && strcmp((char *)from[i].data, names[i]) != 0)))
			rc = error_set(err, -EPROTO, "from %u came %zu bytes", i, from[i].len);
		buf_release(&to[i]);
		buf_release(&from[i]);
	}
	return rc;
}

static void test_exchange_is_sparse(void **state)
{
	(void)state;
	all_do(swap);
}

/* Rank 0 finds all clocks to be its own. */
static int ping_all(struct comm *comm, struct error *err)
{
	struct clock_offset offset;
	int rc = 0;

	for (unsigned i = 1; rc == 0 && comm->rank == 0 && i < RANKS; i++) {
		rc = clocksync_measure(comm, i, 8, &offset, in(comm, LONG_NS), err);
		if (rc == 0 && llabs(offset.offset_ns) > offset.error_ns)
			rc = error_set(err, -EPROTO, "the same clock is %lld off", (long long)offset.offset_ns);
	}
	return rc;
}

/* Rank 3 tells all others. */
static int pass_note(struct comm *comm, struct error *err)
{
	struct note note = { .kind = NOTE_STOP, .value = 7 };
	int rc;

	if (comm->rank == 3)
		return comm_note(comm, &note, err);
	note.value = 0;
	rc = comm_wait(comm, LONG_NS, &note, err);
	if (rc == 0 && (note.kind != NOTE_STOP || note.value != 7))
		rc = error_set(err, -EPROTO, "rank %u got another note", comm->rank);
	return rc;
}

static int meet(struct comm *comm, int rc, struct error *err)
{
	const struct error none = { 0 };

	return rc == 0 ? comm_agree(comm, &none, in(comm, LONG_NS), err) : rc;
}

/* The ranks are numbered backwards but for the first; pings and notes find them. */
static int renumbered(struct comm *comm, struct error *err)
{
	const uint32_t order[RANKS] = { 0, 5, 4, 3, 2, 1 }, wrong[RANKS] = { 0, 1, 1, 2, 3, 4 };
	const unsigned was = comm->rank;
	struct error ignored = { 0 };
	int rc;

	if (comm_mpi_renumber(comm, order, err) || comm->rank != (was ? RANKS - was : 0))
		return error_set(err, -EPROTO, "rank %u is %u", was, comm->rank);
	rc = meet(comm, 0, err);
	if (rc == 0)
		rc = meet(comm, ping_all(comm, err), err);
	if (rc == 0)
		rc = pass_note(comm, err);
	if (rc == 0 && comm_mpi_renumber(comm, wrong, &ignored) != -EPROTO)
		rc = error_set(err, -EPROTO, "two ranks may have one number");
	return rc;
}

static void test_ranks_are_renumbered(void **state)
{
	(void)state;
	all_do(renumbered);
}

/* All that failed are named with what they say, and a time-out is not, as another's failure explains it. */
static int disagree(struct comm *comm, struct error *err)
{
	struct error mine = { 0 };

	if (comm->rank == 1 || comm->rank == 4)
		error_set(&mine, -ENODEV, "no device x");
	if (comm->rank == 2)
		error_set(&mine, -ENOMEM, "no memory");
	if (comm->rank == 3)
		error_set(&mine, -ETIMEDOUT, "nobody came");
	return comm_agree(comm, &mine, in(comm, LONG_NS), err);
}

static void test_all_failures_are_named(void **state)
{
	struct rank rank[RANKS];

	(void)state;
	on_all(rank, disagree, -1);
	for (int i = 0; i < RANKS; i++) {
		assert_int_equal(rank[i].rc, -ENODEV);
		assert_string_equal(rank[i].err.text, "host 'b', 'e': no device x; host 'c': no memory");
	}
}

static int wait_for_all(struct comm *comm, struct error *err)
{
	const struct error none = { 0 };

	return comm_agree(comm, &none, in(comm, SHORT_NS), err);
}

static void test_an_absent_rank_is_named(void **state)
{
	struct rank rank[RANKS];

	(void)state;
	on_all(rank, wait_for_all, 4);
	assert_int_equal(rank[0].rc, -ETIMEDOUT);
	assert_string_equal(rank[0].err.text, "host 'e' (rank 4) does not answer");
	for (int i = 1; i < RANKS; i++)
		assert_int_equal(rank[i].rc, i == 4 ? 0 : -ETIMEDOUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_collective_calls),        cmocka_unit_test(test_exchange_is_sparse),
		cmocka_unit_test(test_ranks_are_renumbered),    cmocka_unit_test(test_all_failures_are_named),
		cmocka_unit_test(test_an_absent_rank_is_named),

	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
