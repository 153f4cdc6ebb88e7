/* Reads and writes exact messages of the control connection in time; an error travels as an urgent byte and a text. */
#include "qperf/channel.h"

#include "base/net.h"
#include "base/wait.h"
#include "spec/clean.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define RETRY_MS    100 /* nobody listens yet: asked again so often */
#define LINGER_NS   3000000000LL /* for the other end to close after an error */
#define ERROR_BYTES 256
#define ERROR_MARK  '?'

static const char *other(const struct qperf_channel *c)
{
	return c->client ? "server" : "client";
}

static int64_t now(const struct qperf_channel *c)
{
	return clock_now(c->clock);
}

static int prepare(struct qperf_channel *c, struct error *err)
{
	const int flags = fcntl(c->fd, F_GETFL);

	c->peer_len = sizeof(c->peer);
	if (flags < 0 || fcntl(c->fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    getpeername(c->fd, (struct sockaddr *)&c->peer, &c->peer_len) < 0)
		return error_sys(err, -errno, "cannot use the control connection");
	return 0;
}

static int try_all(struct qperf_channel *c, const struct addrinfo *list, const struct patience *until)
{
	int rc = -EHOSTUNREACH;

	for (; list && c->fd < 0; list = list->ai_next) {
		const int fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		rc = fd < 0 ? -errno : net_connect(fd, list->ai_addr, list->ai_addrlen, until);
		if (rc == 0)
			c->fd = fd;
		else if (fd >= 0)
			close(fd);
	}
	return c->fd < 0 ? rc : 0;
}

/* An IPv6 address may stand in brackets. */
static void plain_host(const char *host, char *ret, size_t size)
{
	const size_t len = strlen(host);
	const bool boxed = len > 2 && host[0] == '[' && host[len - 1] == ']';

	snprintf(ret, size, "%.*s", (int)(boxed ? len - 2 : len), host + boxed);
}

int qperf_channel_connect(struct qperf_channel *c, const char *host, unsigned port, int64_t wait_ns, struct error *err)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
	const struct patience until = { .clock = c->clock, .deadline_ns = now(c) + wait_ns };
	struct addrinfo *list = NULL;
	char service[8], name[NI_MAXHOST];
	int rc;

	plain_host(host, name, sizeof(name));
	snprintf(service, sizeof(service), "%u", port);
	rc = getaddrinfo(name, service, &hints, &list);
	if (rc)
		return error_set(err, -EHOSTUNREACH, "getaddrinfo failed: %s", gai_strerror(rc));
	for (;;) {
		const struct patience once = { .clock = c->clock, .deadline_ns = now(c) + c->timeout_ns };

		rc = try_all(c, list, wait_ns ? &until : &once);
		if (rc == 0 || now(c) + RETRY_MS * 1000000LL >= until.deadline_ns)
			break;
		poll(NULL, 0, RETRY_MS);
	}
	freeaddrinfo(list);
	if (rc)
		return error_sys(err, rc, "%s: failed to connect to port %u", host, port);
	return prepare(c, err);
}

int qperf_channel_accept(struct qperf_channel *c, int fd, struct error *err)
{
	c->fd = fd;
	return prepare(c, err);
}

void qperf_channel_close(struct qperf_channel *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

/* Drops what was sent before the urgent byte. */
static void skip_to_mark(const struct qperf_channel *c)
{
	char scrap[512];
	int at_mark = 0;

	while (ioctl(c->fd, SIOCATMARK, &at_mark) == 0 && !at_mark && recv(c->fd, scrap, sizeof(scrap), 0) > 0)
		;
}

/* The text behind the urgent byte, up to the end of what the other end sends. */
static int take_complaint(struct qperf_channel *c, struct error *err)
{
	const struct patience until = { .clock = c->clock, .deadline_ns = now(c) + LINGER_NS };
	char text[ERROR_BYTES + 1] = "";
	size_t len = 0;

	skip_to_mark(c);
	while (len < ERROR_BYTES && wait_fd(c->fd, POLLIN, &until) == 0) {
		const ssize_t n = recv(c->fd, text + len, ERROR_BYTES - len, 0);

		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			break;
		len += n > 0 ? (size_t)n : 0;
	}
	c->told = true;
	return error_set(err, -EREMOTEIO, "%s: %s", other(c),
			 len ? text_clean(text, text, sizeof(text)) : "it gave up without saying why");
}

/* 0 when bytes may be read; a complaint or the end as an error. */
static int await(struct qperf_channel *c, short events, const struct patience *until, const char *verb,
		 const char *what, struct error *err)
{
	struct pollfd fd = { .fd = c->fd, .events = (short)(events | POLLPRI) };
	char mark;
	int rc = wait_fd(c->fd, (short)(events | POLLPRI), until);

	if (rc == -ETIMEDOUT)
		return error_set(err, rc, "failed to %s %s: timed out", verb, what);
	if (rc)
		return error_sys(err, rc, "failed to %s %s", verb, what);
	poll(&fd, 1, 0);
	if ((fd.revents & POLLPRI) && recv(c->fd, &mark, 1, MSG_OOB) == 1)
		return take_complaint(c, err);
	return 0;
}

static int gone(struct qperf_channel *c, const char *verb, const char *what, struct error *err)
{
	c->told = true;
	return error_set(err, -ECONNRESET, "failed to %s %s: %s not responding", verb, what, other(c));
}

int qperf_recv_within(struct qperf_channel *c, void *ret, size_t len, int64_t limit_ns, const char *what,
		      struct error *err)
{
	const struct patience until = { .clock = c->clock, .deadline_ns = now(c) + limit_ns };
	size_t done = 0;

	while (done < len) {
		ssize_t n;
		int rc = await(c, POLLIN, &until, "receive", what, err);

		if (rc)
			return rc;
		n = recv(c->fd, (char *)ret + done, len - done, 0);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return gone(c, "receive", what, err);
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int qperf_recv(struct qperf_channel *c, void *ret, size_t len, const char *what, struct error *err)
{
	return qperf_recv_within(c, ret, len, c->timeout_ns, what, err);
}

int qperf_send(struct qperf_channel *c, const void *data, size_t len, const char *what, struct error *err)
{
	const struct patience until = { .clock = c->clock, .deadline_ns = now(c) + c->timeout_ns };
	size_t done = 0;

	while (done < len) {
		ssize_t n;
		int rc = await(c, POLLOUT, &until, "send", what, err);

		if (rc)
			return rc;
		n = send(c->fd, (const char *)data + done, len - done, MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return gone(c, "send", what, err);
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int qperf_send_text(struct qperf_channel *c, const char *text, struct error *err)
{
	return qperf_send(c, text, strlen(text), text, err);
}

int qperf_expect_text(struct qperf_channel *c, const char *text, struct error *err)
{
	char got[64] = "";
	const size_t len = strlen(text) < sizeof(got) ? strlen(text) : sizeof(got) - 1;
	int rc = qperf_recv(c, got, len, text, err);

	if (rc == 0 && memcmp(got, text, len))
		rc = error_set(err, -EPROTO, "%s: the %s sent something else", text, other(c));
	return rc;
}

int qperf_sync(struct qperf_channel *c, const char *text, struct error *err)
{
	int rc = qperf_send_text(c, text, err);

	return rc ? rc : qperf_expect_text(c, text, err);
}

int qperf_channel_look(struct qperf_channel *c, struct error *err)
{
	struct pollfd fd = { .fd = c->fd, .events = POLLIN | POLLPRI };
	char byte;

	if (poll(&fd, 1, 0) <= 0)
		return 0;
	if ((fd.revents & POLLPRI) && recv(c->fd, &byte, 1, MSG_OOB) == 1)
		return take_complaint(c, err);
	if ((fd.revents & POLLIN) && recv(c->fd, &byte, 1, MSG_PEEK) > 0)
		return 0; /* the results, early: whose timer ended first */
	if (fd.revents & (POLLIN | POLLHUP | POLLERR))
		return gone(c, "receive", "results", err);
	return 0;
}

void qperf_channel_drain(struct qperf_channel *c, int64_t limit_ns)
{
	const struct patience until = { .clock = c->clock, .deadline_ns = now(c) + limit_ns };
	char scrap[512];

	while (wait_fd(c->fd, POLLIN, &until) == 0 && recv(c->fd, scrap, sizeof(scrap), 0) > 0)
		;
}

void qperf_channel_complain(struct qperf_channel *c, const struct error *why)
{
	const char mark = ERROR_MARK;
	const size_t len = strnlen(why->text, ERROR_BYTES);

	if (c->fd < 0 || c->told)
		return;
	if (send(c->fd, &mark, 1, MSG_OOB | MSG_NOSIGNAL) != 1 ||
	    send(c->fd, why->text, len, MSG_NOSIGNAL) != (ssize_t)len)
		return;
	shutdown(c->fd, SHUT_WR);
	qperf_channel_drain(c, LINGER_NS);
}
