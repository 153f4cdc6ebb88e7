/* Two ranks over loopback TCP: collective calls, agreement, notes, pings, deadlines and the opening hellos. */
#include "comm_pair.h"

#include "orch/conn.h"

#define LARGE (12u << 20) /* bytes: more than the socket buffers of both ends take together */

static void fill(struct buf *b, size_t len, unsigned seed)
{
	buf_clear(b);
	for (size_t i = 0; b->len < len; i++)
		buf_put_u64(b, i * UINT64_C(0x9e3779b97f4a7c15) + seed);
	b->len = len;
}

static bool filled(const struct buf *b, size_t len, unsigned seed)
{
	struct buf expected = BUF_INIT;
	bool same;

	fill(&expected, len, seed);
	same = b->len == len && !b->failed && (!len || !memcmp(b->data, expected.data, len));
	buf_release(&expected);
	return same;
}

static const size_t lengths[] = { 0, 1, 100000, LARGE };
#define LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

static int bcast_and_gather_1(struct comm *comm, void *arg)
{
	struct buf data = BUF_INIT;
	struct error err = { 0 };

	(void)arg;
	EXPECT(comm->rank == 1 && comm->size == 2);
	for (unsigned i = 0; i < LENGTHS; i++) {
		buf_put_u32(&data, 0xdead);
		EXPECT(!comm_bcast(comm, &data, in_seconds(30), &err));
		EXPECT(filled(&data, lengths[i], i));
		fill(&data, lengths[LENGTHS - 1 - i], i + 1);
		EXPECT(!comm_gather(comm, &data, NULL, in_seconds(30), &err));
	}
	buf_release(&data);
	return 0;
}

static void bcast_replaces_and_gather_collects(void **state)
{
	struct buf data = BUF_INIT, all[2] = { BUF_INIT, BUF_INIT };
	struct error err = { 0 };
	struct peer peer;
	struct comm *comm = pair_open(&peer, bcast_and_gather_1, NULL);

	(void)state;
	assert_int_equal(comm->rank, 0);
	assert_int_equal(comm->size, 2);
	assert_string_equal(comm->peer_name, "peer");
	assert_int_equal(comm->remote.ss_family, AF_INET);
	for (unsigned i = 0; i < LENGTHS; i++) {
		fill(&data, lengths[i], i);
		assert_int_equal(comm_bcast(comm, &data, in_seconds(30), &err), 0);
		assert_int_equal(comm_gather(comm, &data, all, in_seconds(30), &err), 0);
		assert_true(filled(&all[0], lengths[i], i));
		assert_true(filled(&all[1], lengths[LENGTHS - 1 - i], i + 1));
	}
	buf_release(&data);
	buf_release(&all[0]);
	buf_release(&all[1]);
	pair_close(&peer, comm);
}

static int exchange_1(struct comm *comm, void *arg)
{
	struct buf to[2] = { BUF_INIT, BUF_INIT }, from[2] = { BUF_INIT, BUF_INIT };
	struct error err = { 0 };

	(void)arg;
	for (unsigned i = 0; i < 2; i++) {
		fill(&to[0], LARGE, 40 + i);
		EXPECT(!comm_exchange(comm, to, from, in_seconds(30), &err));
		EXPECT(filled(&from[0], LARGE, 80 + i) && !from[1].len);
	}
	buf_release(&to[0]);
	buf_release(&from[0]);
	return 0;
}

/* Both send more than any socket buffer holds before either takes anything: nobody may wait for the other. */
static void exchange_of_much_does_not_lock_up(void **state)
{
	struct buf to[2] = { BUF_INIT, BUF_INIT }, from[2] = { BUF_INIT, BUF_INIT };
	struct error err = { 0 };
	struct peer peer;
	struct comm *comm = pair_open(&peer, exchange_1, NULL);

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		fill(&to[1], LARGE, 80 + i);
		assert_int_equal(comm_exchange(comm, to, from, in_seconds(30), &err), 0);
		assert_true(filled(&from[1], LARGE, 40 + i));
	}
	buf_release(&to[1]);
	buf_release(&from[1]);
	pair_close(&peer, comm);
}

/* What each rank brings to one agreement, and what both must hear. */
static const struct verdict {
	struct error mine[2];
	int code;
	const char *text;
} verdicts[] = {
	{ { { 0 }, { 0 } }, 0, "" },
	{ { { 0 }, { -EINVAL, "the server says no" } }, -EINVAL, "host 'peer': the server says no" },
	{ { { -ENOMEM, "the client says no" }, { 0 } }, -ENOMEM, "the client says no" },
	{ { { -EIO, "first" }, { -EBUSY, "second" } }, -EIO, "first" },
	{ { { 0 }, { 0 } }, 0, "" },
};
#define VERDICTS (sizeof(verdicts) / sizeof(verdicts[0]))

/* mine and err are the same object at odd turns: that must not matter. */
static bool agrees(struct comm *comm, unsigned i)
{
	const struct verdict *verdict = &verdicts[i];
	struct error mine = verdict->mine[comm->rank], other = { 0 };
	struct error *err = i & 1 ? &mine : &other;

	return comm_agree(comm, &mine, in_seconds(30), err) == verdict->code && err->code == verdict->code &&
	       (!verdict->code || !strcmp(err->text, verdict->text));
}

static int agree_1(struct comm *comm, void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < VERDICTS; i++)
		EXPECT(agrees(comm, i));
	return 0;
}

static void all_hear_the_lowest_failing_rank(void **state)
{
	struct peer peer;
	struct comm *comm = pair_open(&peer, agree_1, NULL);

	(void)state;
	for (unsigned i = 0; i < VERDICTS; i++)
		assert_true(agrees(comm, i));
	pair_close(&peer, comm);
}

static int notes_1(struct comm *comm, void *arg)
{
	const struct note live = { .kind = NOTE_LIVE, .value = UINT64_MAX - 5 };
	const struct note stop = { .kind = NOTE_STOP };
	struct error err = { 0 };
	struct note note;

	(void)arg;
	EXPECT(!comm_note(comm, &live, &err) && !comm_note(comm, &stop, &err));
	EXPECT(!comm_wait(comm, 5 * SECOND, &note, &err));
	EXPECT(note.kind == NOTE_FINISH);
	return 0;
}

static void notes_arrive_in_order_and_time_out(void **state)
{
	const struct note finish = { .kind = NOTE_FINISH };
	struct error err = { 0 };
	struct note note;
	struct peer peer;
	struct comm *comm = pair_open(&peer, notes_1, NULL);
	int64_t before;

	(void)state;
	assert_int_equal(comm_wait(comm, 5 * SECOND, &note, &err), 0);
	assert_int_equal(note.kind, NOTE_LIVE);
	assert_true(note.value == UINT64_MAX - 5);
	assert_int_equal(comm_wait(comm, 5 * SECOND, &note, &err), 0);
	assert_int_equal(note.kind, NOTE_STOP);
	before = clock_now(&pair_clock);
	assert_int_equal(comm_wait(comm, SECOND / 20, &note, &err), 0);
	assert_int_equal(note.kind, NOTE_NONE);
	assert_true(clock_now(&pair_clock) - before >= SECOND / 20);
	assert_int_equal(comm_wait(comm, 0, &note, &err), 0);
	assert_int_equal(note.kind, NOTE_NONE);
	assert_int_equal(comm_note(comm, &finish, &err), 0);
	pair_close(&peer, comm);
}

static int wait_for_finish(struct comm *comm, void *arg)
{
	struct error err = { 0 };
	struct note note;

	(void)arg;
	EXPECT(!comm_wait(comm, 10 * SECOND, &note, &err) && note.kind == NOTE_FINISH);
	return 0;
}

/* Answered while the other rank's calling thread is busy elsewhere. */
static void pings_carry_four_instants(void **state)
{
	const struct note finish = { .kind = NOTE_FINISH };
	struct error err = { 0 };
	struct ping ping;
	struct peer peer;
	struct comm *comm = pair_open(&peer, wait_for_finish, NULL);

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		assert_int_equal(comm_ping(comm, &(unsigned){ 1 }, 1, &ping, in_seconds(30), &err), 0);
		assert_true(ping.t1 <= ping.t2 && ping.t2 <= ping.t3 && ping.t3 <= ping.t4);
	}
	assert_int_equal(comm_ping(comm, &(unsigned){ 0 }, 1, &ping, in_seconds(30), &err), -EINVAL);
	assert_int_equal(comm_note(comm, &finish, &err), 0);
	pair_close(&peer, comm);
}

static void a_missing_rank_is_named_at_the_deadline(void **state)
{
	const struct note finish = { .kind = NOTE_FINISH };
	const struct error fine = { 0 };
	struct error err = { 0 }, none = { 0 };
	struct buf mine = BUF_INIT, all[2] = { BUF_INIT, BUF_INIT };
	struct peer peer;
	struct comm *comm = pair_open(&peer, wait_for_finish, NULL);

	(void)state;
	assert_int_equal(comm_gather(comm, &mine, all, in_seconds(0.05), &err), -ETIMEDOUT);
	assert_text(&err, -ETIMEDOUT, "host 'peer' is connected but did not send its gather message in time");
	assert_int_equal(comm_agree(comm, &fine, in_seconds(0.05), &err), -ETIMEDOUT);
	assert_int_equal(comm_note(comm, &finish, &none), 0);
	buf_release(&all[0]);
	buf_release(&all[1]);
	pair_close(&peer, comm);
}

static int gather_instead(struct comm *comm, void *arg)
{
	struct error err = { 0 };
	struct buf data = BUF_INIT;

	EXPECT(!comm_gather(comm, &data, NULL, in_seconds(30), &err));
	return wait_for_finish(comm, arg);
}

static void calls_that_do_not_match_are_an_error(void **state)
{
	struct buf to[2] = { BUF_INIT, BUF_INIT }, from[2] = { BUF_INIT, BUF_INIT }, much = BUF_INIT;
	const struct note finish = { .kind = NOTE_FINISH };
	struct error err = { 0 };
	struct peer peer;
	struct comm *comm = pair_open(&peer, gather_instead, NULL);

	(void)state;
	assert_int_equal(comm_exchange(comm, to, from, in_seconds(30), &err), -EPROTO);
	assert_text(&err, -EPROTO, "host 'peer' sent 'gather' where 'exchange' is due");
	error_clear(&err);
	fill(&much, COMM_MAX_FRAME + 1, 0);
	assert_int_equal(comm_bcast(comm, &much, in_seconds(30), &err), -EMSGSIZE);
	assert_text(&err, -EMSGSIZE, "16777217 bytes");
	buf_release(&much);
	assert_int_equal(comm_note(comm, &finish, NULL), 0);
	pair_close(&peer, comm);
}

static void a_busy_server_says_whom_it_serves(void **state)
{
	struct error err = { 0 };
	struct comm *comm;
	struct hello hello;
	int fds[2];

	(void)state;
	tcp_pair(fds);
	assert_int_equal(hello_prepare(fds[1], NULL), 0);
	send_hello(fds[0], FRAME_HELLO, COMM_PROTOCOL, "0.0", "somebody");
	assert_int_equal(hello_receive(fds[1], within(5), &hello, NULL), 0);
	assert_string_equal(hello.host, "somebody");
	assert_int_equal(hello_answer(fds[1], FRAME_BUSY, "it serves 'other'", within(5), NULL), 0);
	/* That answer is the next client's. */
	assert_int_equal(comm_tcp_client(fds[0], "there", within(5), &comm, &err), -EBUSY);
	assert_text(&err, -EBUSY, "host 'there' is busy: it serves 'other'");
	close(fds[1]);
}

static void ctrl_c_ends_a_wait(void **state)
{
	atomic_int interrupted = 1;
	const struct patience until = { .clock = &pair_clock,
					.deadline_ns = in_seconds(30),
					.interrupted = &interrupted };
	struct buf mine = BUF_INIT, all[2] = { BUF_INIT, BUF_INIT };
	const int64_t limit = in_seconds(2);
	struct error err = { 0 };
	struct comm *comm;
	int fds[2], by_hand;

	(void)state;
	tcp_pair(fds);
	assert_int_equal(comm_tcp_client(fds[0], "mute", &until, &comm, &err), -EINTR);
	assert_text(&err, -EINTR, "interrupted");
	close(fds[1]);
	error_clear(&err);
	by_hand = open_by_hand(&comm);
	comm->interrupted = &interrupted;
	assert_int_equal(comm_gather(comm, &mine, all, in_seconds(30), &err), -EINTR);
	assert_text(&err, -EINTR, "interrupted");
	interrupted = 0;
	error_clear(&err);
	assert_int_equal(comm_gather(comm, &mine, all, in_seconds(0.3), &err), -ETIMEDOUT);
	assert_text(&err, -ETIMEDOUT, "host 'byhand' is connected but did not send its gather message in time");
	comm_close(comm);
	close(by_hand);
	assert_true(clock_now(&pair_clock) < limit);
}

/* The other side reads as fast as we send, but never all. */
static void what_was_sent_is_not_kept(void **state)
{
	static uint8_t data[64 * 1024], scrap[sizeof(data) + FRAME_HEAD];
	struct error err = { 0 };
	struct conn *conn;
	size_t most = 0;
	int fds[2];

	(void)state;
	tcp_pair(fds);
	assert_int_equal(hello_prepare(fds[0], &err), 0);
	assert_int_equal(conn_open(fds[0], "slow", &pair_clock, &conn, &err), 0);
	for (unsigned i = 0; i < 400; i++) {
		bool behind;

		if (conn_push(conn, FRAME_GATHER, data, sizeof(data), &err))
			fail_msg("%s", err.text);
		pthread_mutex_lock(&conn->lock);
		behind = conn->out.len - conn->out_done > CONN_UNSENT / 2;
		most = conn->out.cap > most ? conn->out.cap : most;
		pthread_mutex_unlock(&conn->lock);
		for (size_t left = behind ? sizeof(scrap) : 0; left;) {
			const ssize_t n = recv(fds[1], scrap, left, 0);

			assert_true(n > 0);
			left -= (size_t)n;
		}
	}
	assert_true(most > CONN_UNSENT / 2 && most <= 4 * CONN_UNSENT);
	close(fds[1]);
	conn_close(conn);
}

static void another_version_is_named_on_both_sides(void **state)
{
	struct error err = { 0 };
	struct comm *comm;
	int fds[2];

	(void)state;
	tcp_pair(fds);
	send_hello(fds[0], FRAME_HELLO, COMM_PROTOCOL + 5, "9.9.9", "newer");
	assert_int_equal(welcome(fds[1], within(5), &comm, &err), -EPROTO);
	assert_text(&err, -EPROTO, "fabperf 9.9.9 on host 'newer' speaks control protocol 7, fabperf " FABPERF_VERSION);
	error_clear(&err);
	/* The answer that it got is the next client's. */
	assert_int_equal(comm_tcp_client(fds[0], "elsewhere", within(5), &comm, &err), -EPROTO);
	assert_text(&err, -EPROTO, "host 'elsewhere' refused us: fabperf 9.9.9 on host 'newer'");
	error_clear(&err);
	tcp_pair(fds);
	send_hello(fds[1], FRAME_REFUSED, COMM_PROTOCOL + 5, "9.9.9", "newer");
	assert_int_equal(comm_tcp_client(fds[0], "there", within(5), &comm, &err), -EPROTO);
	assert_text(&err, -EPROTO, "fabperf 9.9.9 on host 'there' speaks control protocol 7, fabperf " FABPERF_VERSION);
	assert_text(&err, -EPROTO, "--server_exe");
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bcast_replaces_and_gather_collects),
		cmocka_unit_test(exchange_of_much_does_not_lock_up),
		cmocka_unit_test(all_hear_the_lowest_failing_rank),
		cmocka_unit_test(notes_arrive_in_order_and_time_out),
		cmocka_unit_test(pings_carry_four_instants),
		cmocka_unit_test(a_missing_rank_is_named_at_the_deadline),
		cmocka_unit_test(calls_that_do_not_match_are_an_error),
		cmocka_unit_test(a_busy_server_says_whom_it_serves),
		cmocka_unit_test(ctrl_c_ends_a_wait),
		cmocka_unit_test(what_was_sent_is_not_kept),
		cmocka_unit_test(another_version_is_named_on_both_sides),
	};

	return cmocka_run_group_tests(tests, pair_clock_init, NULL);
}
