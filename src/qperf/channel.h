/* qperf's control connection: exact messages with deadlines, and its way to tell the other end of an error. */
#ifndef QPERF_CHANNEL_H
#define QPERF_CHANNEL_H

#include "base/clock.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define QPERF_BEHIND 3 /* timeouts: for what on a slow path comes behind the test's own data */

/* A timeout in seconds as ns; 30 years at most, so that so many of them are still an instant of the clock. */
static inline int64_t qperf_timeout_ns(uint32_t seconds)
{
	const int64_t most = 30 * 365 * 86400LL;

	return (seconds < most ? seconds : most) * 1000000000LL;
}

struct qperf_channel {
	int fd; /* non-blocking; -1: none */
	const struct clock *clock;
	int64_t timeout_ns; /* of each message */
	bool client; /* this end: how the other one is called in sentences */
	bool told; /* the error came from the other end: it is not told of it */
	struct sockaddr_storage peer;
	socklen_t peer_len;
};

/* Connects to the host's control port within wait_ns, trying again as long as nothing listens. */
int qperf_channel_connect(struct qperf_channel *c, const char *host, unsigned port, int64_t wait_ns, struct error *err);
/* Takes over an accepted connection. */
int qperf_channel_accept(struct qperf_channel *c, int fd, struct error *err);
void qperf_channel_close(struct qperf_channel *c);

/* All of it or an error; what says what it is: "results". */
int qperf_send(struct qperf_channel *c, const void *data, size_t len, const char *what, struct error *err);
int qperf_recv(struct qperf_channel *c, void *ret, size_t len, const char *what, struct error *err);
/* The same with a limit of its own, ns. */
int qperf_recv_within(struct qperf_channel *c, void *ret, size_t len, int64_t limit_ns, const char *what,
		      struct error *err);
/* Each end sends the same text and reads it. */
int qperf_sync(struct qperf_channel *c, const char *text, struct error *err);
/* Sends an end's half only, or reads and checks the other's. */
int qperf_send_text(struct qperf_channel *c, const char *text, struct error *err);
int qperf_expect_text(struct qperf_channel *c, const char *text, struct error *err);

/* Whether the other end has closed, failed, or says that something is wrong (then -errno and its sentence). */
int qperf_channel_look(struct qperf_channel *c, struct error *err);
/* Waits until the other end has closed, which it does when it has read all. */
void qperf_channel_drain(struct qperf_channel *c, int64_t limit_ns);
/* Tells the other end why this one gives up, and waits a moment until it has closed. */
void qperf_channel_complain(struct qperf_channel *c, const struct error *why);

#endif
