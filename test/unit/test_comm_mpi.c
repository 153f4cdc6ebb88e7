/* The communicator over the MPI plug-in, with ranks that are threads and a plug-in that is a list of messages here. */
#include "orch/comm_mpi.h"

#include "base/clock.h"
#include "orch/clocks.h"
#include "orch/mpi_link.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RANKS    6
#define LONG_NS  60000000000LL
#define SHORT_NS 300000000LL

struct message {
	struct message *next;
	int from, to, tag;
	size_t len;
	char data[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct message *messages;
static _Thread_local int own;
static char done_already;

static int fake_init(int *rank, int *size, char *text)
{
	(void)text;
	*rank = own;
	*size = RANKS;
	return 0;
}

static int fake_send(int to, int tag, const void *data, size_t len, void **ret, char *text)
{
	struct message *m = malloc(sizeof(*m) + len), **at;

	(void)text;
	*m = (struct message){ .from = own, .to = to, .tag = tag, .len = len };
	if (len)
		memcpy(m->data, data, len);
	pthread_mutex_lock(&lock);
	for (at = &messages; *at; at = &(*at)->next)
		;
	*at = m;
	pthread_mutex_unlock(&lock);
	*ret = &done_already;
	return 0;
}

static int fake_probe(int from, int tag, int *ret_from, size_t *ret_len, void **ret, char *text)
{
	struct message **at, *found;

	(void)text;
	pthread_mutex_lock(&lock);
	for (at = &messages; *at; at = &(*at)->next)
		if ((*at)->to == own && (*at)->tag == tag && (from == MPI_LINK_ANY || from == (*at)->from))
			break;
	found = *at;
	if (found)
		*at = found->next;
	pthread_mutex_unlock(&lock);
	if (!found)
		return 0;
	*ret_from = found->from;
	*ret_len = found->len;
	*ret = found;
	return 1;
}

static int fake_receive(void *message, void *data, size_t len, void **ret, char *text)
{
	struct message *m = message;

	(void)text;
	memcpy(data, m->data, len);
	free(m);
	*ret = &done_already;
	return 0;
}

static int fake_done(void *request, char *text)
{
	(void)text;
	return request == &done_already;
}

static int fake_finalize(char *text)
{
	(void)text;
	return 0;
}

static void fake_end_all(void)
{
}

static const struct mpi_link fake = { .version = MPI_LINK_VERSION,
				      .init = fake_init,
				      .send = fake_send,
				      .probe = fake_probe,
				      .receive = fake_receive,
				      .done = fake_done,
				      .finalize = fake_finalize,
				      .end_all = fake_end_all };

static const char *const names[RANKS] = { "a", "b", "c", "d", "e", "f" };

struct rank {
	int number;
	int (*run)(struct comm *comm, struct error *err);
	bool absent;
	int rc;
	struct error err;
	struct clock clock;
};

static void *rank_main(void *argument)
{
	struct rank *r = argument;
	struct comm *comm;

	own = r->number;
	clock_init(&r->clock, false);
	r->rc = comm_mpi_open(&fake, &r->clock, &comm, &r->err);
	if (r->rc == 0) {
		comm->names = names;
		r->rc = r->absent ? 0 : r->run(comm, &r->err);
		if (!r->absent)
			comm_close(comm);
		else
			free(comm);
	}
	return NULL;
}

/* Runs it on all ranks at once; all but the absent one. */
static void on_all(struct rank *rank, int (*run)(struct comm *, struct error *), int absent)
{
	pthread_t thread[RANKS];

	for (int i = 0; i < RANKS; i++) {
		rank[i] = (struct rank){ .number = i, .run = run, .absent = i == absent };
		assert_int_equal(pthread_create(&thread[i], NULL, rank_main, &rank[i]), 0);
	}
	for (int i = 0; i < RANKS; i++)
		pthread_join(thread[i], NULL);
	while (messages) {
		struct message *m = messages;

		messages = m->next;
		free(m);
	}
}

static int64_t in(const struct comm *comm, int64_t ns)
{
	return clock_now(comm->clock) + ns;
}

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
	struct rank rank[RANKS];

	(void)state;
	on_all(rank, talk, -1);
	for (int i = 0; i < RANKS; i++)
		if (rank[i].rc)
			fail_msg("rank %d: %s", i, rank[i].err.text);
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
	struct rank rank[RANKS];

	(void)state;
	on_all(rank, swap, -1);
	for (int i = 0; i < RANKS; i++)
		if (rank[i].rc)
			fail_msg("rank %d: %s", i, rank[i].err.text);
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

#define AHEAD_NS INT64_C(1000000000000) /* of a rank's clock before that of the rank before */
#define OWN_NS   20000 /* by which clocks of one machine differ that were calibrated by themselves */

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
	for (unsigned i = 0; rc == 0 && i < RANKS; i++) {
		const int64_t now = clocks_root(&clocks, comm->rank, clock_now(clock));
		struct clock_reading reading;

		clocks_at(&clocks, i, now, &reading);
		if (llabs(reading.offset_ns - ahead * i) > reading.bound_ns + OWN_NS ||
		    llabs(clocks_own(&clocks, i, now) - now - ahead * i) > reading.bound_ns + OWN_NS)
			rc = error_set(err, -EPROTO, "rank %u is %lld ns ahead", i, (long long)reading.offset_ns);
	}
	if (rc == 0 && comm->rank == 0 && (!clocks.closure.pairs || clocks.closure.outside))
		rc = error_set(err, -EPROTO, "%u of %u pairs", clocks.closure.outside, clocks.closure.pairs);
	clocks_release(&clocks);
	return rc;
}

static void test_clocks_are_known_to_all(void **state)
{
	struct rank rank[RANKS];

	(void)state;
	on_all(rank, sync_clocks, -1);
	for (int i = 0; i < RANKS; i++)
		if (rank[i].rc)
			fail_msg("rank %d: %s", i, rank[i].err.text);
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
	struct rank rank[RANKS];

	(void)state;
	on_all(rank, renumbered, -1);
	for (int i = 0; i < RANKS; i++)
		if (rank[i].rc)
			fail_msg("rank %d: %s", i, rank[i].err.text);
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
		cmocka_unit_test(test_collective_calls),
		cmocka_unit_test(test_exchange_is_sparse),
		cmocka_unit_test(test_ranks_are_renumbered),
		cmocka_unit_test(test_all_failures_are_named),
		cmocka_unit_test(test_an_absent_rank_is_named),
		cmocka_unit_test(test_clocks_are_known_to_all),
		cmocka_unit_test(test_a_clock_between_its_measurements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
