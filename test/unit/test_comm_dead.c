/* A peer that dies, stops, falls silent or sends nonsense is named within 5 s, and nothing of it is believed. */
#include "comm_pair.h"

#include "base/buf.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define NAMED_WITHIN 5.0 /* s: what the control connection promises */

/* Rank 1 in a process of its own that does nothing but keep the connection; *ret_fd is rank 0's end. */
static pid_t fork_peer(int *ret_fd)
{
	struct error err = { 0 };
	struct comm *comm;
	pid_t pid;
	int fds[2];

	tcp_pair(fds);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed test leaves nothing behind */
		close(fds[0]);
		if (!welcome(fds[1], within(5), &comm, &err))
			pause();
		_exit(1);
	}
	assert_true(pid > 0);
	close(fds[1]);
	*ret_fd = fds[0];
	return pid;
}

static struct comm *join_peer(int fd)
{
	struct error err = { 0 };
	struct comm *comm = NULL;

	if (comm_tcp_client(fd, "child", within(5), &comm, &err))
		fail_msg("%s", err.text);
	return comm;
}

static void end_peer(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void *kill_soon(void *arg)
{
	poll(NULL, 0, 100); /* most likely the other thread waits by then; it is the same to the outcome */
	kill(*(pid_t *)arg, SIGKILL);
	return NULL;
}

static void a_killed_peer_is_named_at_once(void **state)
{
	struct buf mine = BUF_INIT, all[2] = { BUF_INIT, BUF_INIT };
	const struct note live = { .kind = NOTE_LIVE };
	struct error err = { 0 }, again = { 0 };
	int fd;
	pid_t pid = fork_peer(&fd);
	struct comm *comm = join_peer(fd);
	const int64_t limit = in_seconds(2);
	struct note note;
	pthread_t killer;

	(void)state;
	assert_int_equal(pthread_create(&killer, NULL, kill_soon, &pid), 0);
	assert_int_equal(comm_gather(comm, &mine, all, in_seconds(30), &err), -ECONNRESET);
	assert_text(&err, -ECONNRESET, "host 'child' closed the control connection");
	assert_true(clock_now(&pair_clock) < limit);
	pthread_join(killer, NULL);
	/* And it stays dead, for every call. */
	assert_int_equal(comm_note(comm, &live, &again), -ECONNRESET);
	assert_int_equal(comm_wait(comm, SECOND, &note, &again), -ECONNRESET);
	assert_text(&again, -ECONNRESET, "host 'child'");
	comm_close(comm);
	end_peer(pid);
}

static int idle(struct comm *comm, void *arg)
{
	struct error err = { 0 };
	struct note note;

	(void)arg;
	EXPECT(!comm_wait(comm, 20 * SECOND, &note, &err) && note.kind == NOTE_FINISH);
	return 0;
}

struct sender {
	struct comm *comm;
	struct error err;
	int rc;
};

/* More than all socket buffers hold, until it fails. */
static void *send_much(void *arg)
{
	struct sender *sender = arg;
	struct buf data = BUF_INIT;

	for (unsigned i = 0; i < 1u << 20; i++)
		buf_put_u64(&data, i);
	do
		sender->rc = comm_bcast(sender->comm, &data, in_seconds(30), &sender->err);
	while (!sender->rc);
	buf_release(&data);
	return NULL;
}

/* Three ways to be silent and one of being idle, all at the same time. */
static void a_silent_peer_is_named_within_five_seconds(void **state)
{
	struct buf mine = BUF_INIT, all[2] = { BUF_INIT, BUF_INIT };
	const struct note finish = { .kind = NOTE_FINISH };
	int fd[2], by_hand;
	const pid_t pid[2] = { fork_peer(&fd[0]), fork_peer(&fd[1]) }; /* before there are threads */
	struct comm *stopped = join_peer(fd[0]), *full = join_peer(fd[1]), *partial, *living;
	struct sender sender = { .comm = full };
	struct error err = { 0 }, cut = { 0 };
	pthread_t thread;
	struct peer peer;
	struct note note;
	int64_t limit;

	(void)state;
	living = pair_open(&peer, idle, NULL);
	by_hand = open_by_hand(&partial);
	send_all(by_hand, "FABP\x05", 5);
	limit = in_seconds(NAMED_WITHIN);
	kill(pid[0], SIGSTOP);
	kill(pid[1], SIGSTOP);
	assert_int_equal(pthread_create(&thread, NULL, send_much, &sender), 0);
	assert_int_equal(comm_gather(stopped, &mine, all, in_seconds(30), &err), -ETIMEDOUT);
	assert_text(&err, -ETIMEDOUT, "host 'child' has been silent for 3.");
	assert_int_equal(comm_wait(partial, 30 * SECOND, &note, &cut), -ETIMEDOUT);
	assert_text(&cut, -ETIMEDOUT, "host 'byhand' has been silent for 3.");
	pthread_join(thread, NULL);
	assert_text(&sender.err, -ETIMEDOUT, "host 'child' has been silent for 3.");
	assert_true(clock_now(&pair_clock) < limit);
	/* The idle pair has exchanged nothing but beats for longer than silence is allowed. */
	assert_int_equal(comm_wait(living, SECOND / 2, &note, &err), 0);
	assert_int_equal(comm_note(living, &finish, &err), 0);
	pair_close(&peer, living);
	comm_close(stopped);
	comm_close(full);
	comm_close(partial);
	close(by_hand);
	end_peer(pid[0]);
	end_peer(pid[1]);
}

static const struct nonsense {
	const char *bytes;
	size_t len;
	const char *part; /* of the sentence */
} nonsense[] = {
	{ "GET / HTTP/1.1\r\n\r\n", 18, "not a fabperf frame" },
	{ "FABP\x63\0\0\0\0\0\0\0", 12, "unknown type 99" },
	{ "FABP\0\0\0\0\0\0\0\0", 12, "unknown type 0" },
	{ "FABP\x05\0\1\0\0\0\0\0", 12, "reserved field of 1" },
	{ "FABP\x05\0\0\0\1\0\0\1", 12, "a bcast frame announces 16777217 bytes where at most 16777216 are allowed" },
	{ "FABP\x05\0\0\0\xff\xff\xff\xff", 12, "announces 4294967295 bytes" },
	{ "FABP\x09\0\0\0\4\0\0\0", 12, "a ping frame announces 4 bytes where 8 are allowed" },
	{ "FABP\x08\0\0\0\x0d\0\0\0", 12, "a note frame announces 13 bytes where 12 are allowed" },
	{ "FABP\x0b\0\0\0\1\0\0\0", 12, "a beat frame announces 1 bytes where 0 are allowed" },
	{ "FABP\1\0\0\0\0\0\0\0", 12, "a hello frame came where none is allowed" },
	{ "FABP\x0a\0\0\0\x18\0\0\0\7\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 36, "a ping that was not sent" },
};

static void nonsense_ends_the_connection_with_a_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
		struct error err = { 0 };
		struct comm *comm;
		struct note note;
		const int fd = open_by_hand(&comm);

		send_all(fd, nonsense[i].bytes, nonsense[i].len);
		assert_int_equal(comm_wait(comm, 3 * SECOND, &note, &err), -EPROTO);
		assert_text(&err, -EPROTO, "protocol error of host 'byhand': ");
		assert_text(&err, -EPROTO, nonsense[i].part);
		comm_close(comm);
		close(fd);
	}
}

static void malformed_notes_are_refused(void **state)
{
	static const char kinds[] = { 0, 5, 100 };

	(void)state;
	for (size_t i = 0; i < sizeof(kinds); i++) {
		char frame[] = "FABP\x08\0\0\0\x0c\0\0\0K\0\0\0\0\0\0\0\0\0\0\0";
		struct error err = { 0 };
		struct comm *comm;
		struct note note;
		const int fd = open_by_hand(&comm);

		frame[12] = kinds[i];
		send_all(fd, frame, 24);
		assert_int_equal(comm_wait(comm, 3 * SECOND, &note, &err), -EPROTO);
		assert_text(&err, -EPROTO, "host 'byhand' sent a malformed note");
		comm_close(comm);
		close(fd);
	}
}

/* A whole frame, however slowly it is taken: false when the other side has had enough. */
static bool send_frame(int fd, const struct buf *frame)
{
	for (size_t done = 0; done < frame->len;) {
		const ssize_t n = send(fd, frame->data + done, frame->len - done, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

/* Whether the other side shuts the connection down, within 10 s. */
static bool hung_up(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLRDHUP };

	return poll(&poll_fd, 1, 10000) == 1;
}

/* Sends frames until the other side has had enough. */
static void flood(enum frame_type type, size_t len, const char *part)
{
	struct buf frame = BUF_INIT;
	uint8_t *payload = calloc(1, len + 1);
	struct error err = { 0 };
	struct comm *comm;
	struct note note;
	const int fd = open_by_hand(&comm);
	const struct timeval limit = { .tv_sec = 10 };

	assert_non_null(payload);
	payload[0] = NOTE_LIVE;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	frame_put(&frame, type, payload, len);
	for (unsigned i = 0; i < 3000 && send_frame(fd, &frame); i++)
		;
	assert_true(hung_up(fd)); /* before we take notes, and so make room for more */
	do { /* notes that came before */
		note.kind = NOTE_NONE;
		comm_wait(comm, SECOND, &note, &err);
	} while (note.kind != NOTE_NONE);
	assert_text(&err, -EPROTO, part);
	comm_close(comm);
	close(fd);
	buf_release(&frame);
	free(payload);
}

static void a_flood_is_cut_off(void **state)
{
	(void)state;
	flood(FRAME_BCAST, 0, "more bcast messages came than may wait");
	flood(FRAME_EXCHANGE, COMM_MAX_FRAME, "more exchange messages came than may wait");
	flood(FRAME_NOTE, 12, "more note messages came than may wait");
}

/* What a server may get instead of a hello. */
static void clients_that_say_no_hello_are_refused(void **state)
{
	struct error err = { 0 };
	struct comm *comm;
	int fds[2];

	(void)state;
	tcp_pair(fds);
	send_all(fds[0], "SSH-2.0-OpenSSH_9.2p1 Debian\r\n", 30);
	assert_int_equal(welcome(fds[1], within(5), &comm, &err), -EPROTO);
	assert_text(&err, -EPROTO, "not a fabperf frame");
	close(fds[0]);
	error_clear(&err);
	tcp_pair(fds);
	assert_int_equal(welcome(fds[1], within(0.1), &comm, &err), -ETIMEDOUT);
	assert_text(&err, -ETIMEDOUT, "did not say hello in time");
	close(fds[0]);
	error_clear(&err);
	tcp_pair(fds);
	close(fds[0]);
	assert_int_equal(welcome(fds[1], within(5), &comm, &err), -ECONNRESET);
}

/* What a client may find instead of a server. */
static void other_servers_are_not_mistaken_for_ours(void **state)
{
	struct error err = { 0 };
	struct comm *comm;
	int fds[2];

	(void)state;
	tcp_pair(fds);
	send_all(fds[1], "220 mail ESMTP\r\n", 16);
	assert_int_equal(comm_tcp_client(fds[0], "mail", within(5), &comm, &err), -EPROTO);
	assert_text(&err, -EPROTO, "what listens on host 'mail' is not a fabperf server: ");
	close(fds[1]);
	error_clear(&err);
	tcp_pair(fds);
	assert_int_equal(comm_tcp_client(fds[0], "mute", within(0.1), &comm, &err), -ETIMEDOUT);
	assert_text(&err, -ETIMEDOUT, "what listens on host 'mute' did not answer");
	close(fds[1]);
	error_clear(&err);
	tcp_pair(fds);
	close(fds[1]);
	assert_int_equal(comm_tcp_client(fds[0], "shut", within(5), &comm, &err), -ECONNRESET);
	assert_text(&err, -ECONNRESET, "what listens on host 'shut' closed the connection");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_killed_peer_is_named_at_once),
		cmocka_unit_test(a_silent_peer_is_named_within_five_seconds),
		cmocka_unit_test(nonsense_ends_the_connection_with_a_reason),
		cmocka_unit_test(malformed_notes_are_refused),
		cmocka_unit_test(a_flood_is_cut_off),
		cmocka_unit_test(clients_that_say_no_hello_are_refused),
		cmocka_unit_test(other_servers_are_not_mistaken_for_ours),
	};

	return cmocka_run_group_tests(tests, pair_clock_init, NULL);
}
