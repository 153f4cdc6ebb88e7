/* Two ends of a control connection for the unit tests: loopback sockets, a thread that is rank 1, frames by hand. */
#ifndef TEST_COMM_PAIR_H
#define TEST_COMM_PAIR_H

#include "base/clock.h"
#include "base/wait.h"
#include "orch/comm.h"
#include "orch/frame.h"
#include "orch/hello.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)

static struct clock pair_clock;

static inline int pair_clock_init(void **state)
{
	(void)state;
	clock_init(&pair_clock, true);
	return 0;
}

static inline int64_t in_seconds(double seconds)
{
	return clock_now(&pair_clock) + (int64_t)(seconds * 1e9);
}

/* So many seconds from now. */
#define within(seconds) (&(const struct patience){ .clock = &pair_clock, .deadline_ns = in_seconds(seconds) })

/* Two connected TCP sockets. */
static inline void tcp_pair(int fds[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	const int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(listening >= 0);
	assert_int_equal(bind(listening, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(listening, 1), 0);
	assert_int_equal(getsockname(listening, (struct sockaddr *)&address, &len), 0);
	fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(fds[0], (struct sockaddr *)&address, len), 0);
	fds[1] = accept(listening, NULL, NULL);
	assert_true(fds[1] >= 0);
	close(listening);
}

/* A server's side of the hellos: welcomes the client that says hello. Takes over fd. */
static inline int welcome(int fd, const struct patience *until, struct comm **ret, struct error *err)
{
	struct hello hello;
	int rc = hello_prepare(fd, err);

	if (!rc)
		rc = hello_receive(fd, until, &hello, err);
	if (!rc)
		rc = hello_answer(fd, FRAME_WELCOME, "", until, err);
	if (!rc)
		return comm_tcp_open(fd, 1, hello.host, until->clock, ret, err);
	close(fd);
	return rc;
}

/* Rank 1 in a thread of its own. Its function may not assert: it returns 0 or a line number. */
struct peer {
	pthread_t thread;
	int fd;
	int (*run)(struct comm *comm, void *arg);
	void *arg;
	int rc;
	struct error err;
};

static inline void *peer_main(void *arg)
{
	struct peer *peer = arg;
	struct comm *comm;

	peer->rc = welcome(peer->fd, within(30), &comm, &peer->err);
	if (peer->rc)
		return NULL;
	peer->rc = peer->run(comm, peer->arg);
	comm_close(comm);
	return NULL;
}

static inline struct comm *pair_open(struct peer *peer, int (*run)(struct comm *, void *), void *arg)
{
	struct error err = { 0 };
	struct comm *comm = NULL;
	int fds[2];

	tcp_pair(fds);
	*peer = (struct peer){ .fd = fds[1], .run = run, .arg = arg };
	assert_int_equal(pthread_create(&peer->thread, NULL, peer_main, peer), 0);
	if (comm_tcp_client(fds[0], "peer", within(30), &comm, &err))
		fail_msg("%s", err.text);
	return comm;
}

/* Rank 1's function has returned 0. */
static inline void pair_close(struct peer *peer, struct comm *comm)
{
	pthread_join(peer->thread, NULL);
	comm_close(comm);
	if (peer->rc)
		fail_msg("rank 1: %d %s", peer->rc, peer->err.text);
}

#define EXPECT(condition)                                                                                              \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			return __LINE__;                                                                               \
	} while (0)

static inline void send_all(int fd, const void *data, size_t len)
{
	assert_int_equal(send(fd, data, len, MSG_NOSIGNAL), len);
}

/* A hello or an answer by hand. */
static inline void send_hello(int fd, enum frame_type type, uint32_t protocol, const char *version, const char *host)
{
	struct hello hello = { .protocol = protocol };
	struct buf payload = BUF_INIT, frame = BUF_INIT;

	snprintf(hello.version, sizeof(hello.version), "%s", version);
	snprintf(hello.host, sizeof(hello.host), "%s", host);
	hello_pack(&hello, &payload);
	frame_put(&frame, type, payload.data, payload.len);
	send_all(fd, frame.data, frame.len);
	buf_release(&payload);
	buf_release(&frame);
}

/* Rank 0 with a rank 1 that is ours to play by hand on the returned socket, its answer already sent. */
static inline int open_by_hand(struct comm **ret)
{
	struct error err = { 0 };
	int fds[2];

	tcp_pair(fds);
	send_hello(fds[1], FRAME_WELCOME, COMM_PROTOCOL, "0.0", "byhand");
	if (comm_tcp_client(fds[0], "byhand", within(5), ret, &err))
		fail_msg("%s", err.text);
	return fds[1];
}

static inline void assert_text(const struct error *err, int code, const char *part)
{
	if (err->code != code || !strstr(err->text, part) || strchr(err->text, '\n'))
		fail_msg("expected %d \"...%s...\", got %d \"%s\"", code, part, err->code, err->text);
}

#endif
