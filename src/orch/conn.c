/* The calling thread's side of a control connection: sending, taking what the keeper queued, opening and closing. */
#include "orch/conn.h"

#include "base/clock.h"
#include "base/wait.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define LINGER_NS 500000000LL
#define SLICE_NS  200000000LL /* how late a wait notices Ctrl-C */

void conn_fail(struct conn *conn, const struct error *why)
{
	if (!conn->error.code) {
		conn->error = *why;
		conn->gone = 1;
		shutdown(conn->fd, SHUT_RDWR);
	}
	pthread_cond_broadcast(&conn->changed);
}

void conn_broken(struct conn *conn, int code)
{
	struct error why = { 0 };

	if (!code || code == -ECONNRESET || code == -EPIPE)
		error_set(&why, -ECONNRESET,
			  "host '%s' closed the control connection (its fabperf ended or was killed)", conn->name);
	else
		error_sys(&why, code, "the control connection to host '%s' broke", conn->name);
	conn_fail(conn, &why);
}

static int failure(struct conn *conn, struct error *err)
{
	return error_set(err, conn->error.code, "%s", conn->error.text);
}

/* What has gone is forgotten once it is most of what is kept: a peer that never catches up costs what waits for it. */
static void forget_sent(struct conn *conn)
{
	const size_t left = conn->out.len - conn->out_done;

	if (conn->out_done <= CONN_UNSENT || conn->out_done < left)
		return;
	memmove(conn->out.data, conn->out.data + conn->out_done, left);
	conn->out.len = left;
	conn->out_done = 0;
}

void conn_flush(struct conn *conn)
{
	ssize_t n;

	while (!conn->error.code && conn->out_done < conn->out.len) {
		n = send(conn->fd, conn->out.data + conn->out_done, conn->out.len - conn->out_done,
			 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
			forget_sent(conn);
			return;
		}
		if (n < 0) {
			conn_broken(conn, -errno);
			return;
		}
		conn->out_done += (size_t)n;
	}
	conn->out_done = 0;
	buf_clear(&conn->out);
	if (conn->out.cap > CONN_UNSENT)
		buf_release(&conn->out);
	pthread_cond_broadcast(&conn->changed);
}

void conn_put(struct conn *conn, enum frame_type type, const void *payload, size_t len)
{
	struct error why = { 0 };

	frame_put(&conn->out, type, payload, len);
	if (conn->out.failed) {
		error_set(&why, -ENOMEM, "no memory for a message of %zu bytes to host '%s'", len, conn->name);
		conn_fail(conn, &why);
		return;
	}
	conn_flush(conn);
}

static void wake_keeper(struct conn *conn)
{
	const uint64_t one = 1;
	ssize_t n = write(conn->wake, &one, sizeof(one));

	(void)n; /* it fails only when the counter is full: then the keeper is awake anyhow */
}

/* Waits for a change until the deadline; false once that has passed. */
static bool wait_change(struct conn *conn, int64_t deadline_ns)
{
	const int64_t left = deadline_ns - clock_now(conn->clock);
	struct timespec until;
	int64_t ns;

	if (left <= 0)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &until);
	ns = until.tv_nsec + (left < INT64_MAX / 2 ? left : INT64_MAX / 2);
	until.tv_sec += ns / 1000000000;
	until.tv_nsec = ns % 1000000000;
	pthread_cond_timedwait(&conn->changed, &conn->lock, &until);
	return true;
}

static int check_length(enum frame_type type, size_t len, struct error *err)
{
	if (len <= frame_limit(type))
		return 0;
	return error_set(err, -EMSGSIZE, "a %s message of %zu bytes is more than the control connection carries (%u)",
			 frame_name(type), len, frame_limit(type));
}

int conn_send(struct conn *conn, enum frame_type type, const struct buf *payload, int64_t deadline_ns,
	      struct error *err)
{
	int rc = check_length(type, payload->len, err);

	if (rc < 0)
		return rc;
	pthread_mutex_lock(&conn->lock);
	conn_put(conn, type, payload->data, payload->len);
	if (conn->out.len)
		wake_keeper(conn);
	while (!conn->error.code && conn->out.len && wait_change(conn, deadline_ns))
		;
	if (conn->error.code)
		rc = failure(conn, err);
	else if (conn->out.len)
		rc = error_set(err, -ETIMEDOUT, "host '%s' did not take a %s message in time", conn->name,
			       frame_name(type));
	pthread_mutex_unlock(&conn->lock);
	return rc;
}

int conn_push(struct conn *conn, enum frame_type type, const void *payload, size_t len, struct error *err)
{
	int rc = check_length(type, len, err);

	if (rc < 0)
		return rc;
	pthread_mutex_lock(&conn->lock);
	if (!conn->error.code && conn->out.len - conn->out_done > CONN_UNSENT)
		rc = error_set(err, -ENOBUFS, "host '%s' does not read its control connection", conn->name);
	else
		conn_put(conn, type, payload, len);
	if (conn->error.code)
		rc = failure(conn, err);
	else if (conn->out.len)
		wake_keeper(conn);
	pthread_mutex_unlock(&conn->lock);
	return rc;
}

int conn_enqueue(struct conn_queue *queue, unsigned type, struct buf *payload)
{
	struct conn_item *item = malloc(sizeof(*item));

	if (!item) {
		buf_release(payload);
		return -ENOMEM;
	}
	*item = (struct conn_item){ .type = type, .payload = *payload };
	queue->items++;
	queue->bytes += payload->len;
	*queue->tail = item;
	queue->tail = &item->next;
	return 0;
}

/* The queue is not empty. */
static unsigned dequeue(struct conn_queue *queue, struct buf *ret)
{
	struct conn_item *item = queue->head;
	const unsigned type = item->type;

	queue->head = item->next;
	if (!queue->head)
		queue->tail = &queue->head;
	queue->items--;
	queue->bytes -= item->payload.len;
	*ret = item->payload;
	free(item);
	return type;
}

/* Until a part is there: 0, -EINTR, -ETIMEDOUT, or why the connection is of no more use. */
static int wait_part(struct conn *conn, enum frame_type type, int64_t deadline_ns, const atomic_int *interrupted,
		     struct error *err)
{
	while (!conn->parts.items && !conn->error.code && !(interrupted && *interrupted)) {
		const int64_t now = clock_now(conn->clock);

		if (now >= deadline_ns)
			return error_set(err, -ETIMEDOUT,
					 "host '%s' is connected but did not send its %s message in time", conn->name,
					 frame_name(type));
		wait_change(conn, deadline_ns - now < SLICE_NS ? deadline_ns : now + SLICE_NS);
	}
	if (conn->parts.items)
		return 0;
	return conn->error.code ? failure(conn, err) : error_set(err, -EINTR, "interrupted");
}

int conn_take(struct conn *conn, enum frame_type type, struct buf *ret, int64_t deadline_ns,
	      const atomic_int *interrupted, struct error *err)
{
	struct buf payload = BUF_INIT;
	unsigned came;
	int rc;

	pthread_mutex_lock(&conn->lock);
	rc = wait_part(conn, type, deadline_ns, interrupted, err);
	if (!rc) {
		came = dequeue(&conn->parts, &payload);
		if (came != type)
			rc = error_set(err, -EPROTO, "host '%s' sent '%s' where '%s' is due", conn->name,
				       frame_name(came), frame_name(type));
	}
	pthread_mutex_unlock(&conn->lock);
	if (rc < 0)
		buf_release(&payload);
	else
		*ret = payload;
	return rc;
}

int conn_take_note(struct conn *conn, struct buf *ret, int64_t deadline_ns, struct error *err)
{
	int rc = 0;

	pthread_mutex_lock(&conn->lock);
	while (!conn->notes.items && !conn->error.code && wait_change(conn, deadline_ns))
		;
	if (conn->notes.items)
		dequeue(&conn->notes, ret);
	else
		rc = conn->error.code ? failure(conn, err) : -EAGAIN;
	pthread_mutex_unlock(&conn->lock);
	return rc;
}

int conn_ping(struct conn *conn, struct ping *ret, int64_t deadline_ns, struct error *err)
{
	struct buf number = BUF_INIT;
	int rc = 0;

	pthread_mutex_lock(&conn->lock);
	conn->ping_answered = false;
	buf_put_u64(&number, ++conn->ping_number);
	conn->ping.t1 = clock_now(conn->clock);
	conn_put(conn, FRAME_PING, number.data, number.len);
	if (conn->out.len)
		wake_keeper(conn);
	while (!conn->ping_answered && !conn->error.code && wait_change(conn, deadline_ns))
		;
	if (conn->ping_answered)
		*ret = conn->ping;
	else if (conn->error.code)
		rc = failure(conn, err);
	else
		rc = error_set(err, -ETIMEDOUT, "host '%s' did not answer a ping in time", conn->name);
	pthread_mutex_unlock(&conn->lock);
	buf_release(&number);
	return rc;
}

/* A keeper must not take the signals that are meant for the calling thread. */
static int start_keeper(struct conn *conn, struct error *err)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&conn->keeper, NULL, conn_keep, conn);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		return error_sys(err, -rc, "cannot start the thread of the control connection");
	conn->running = true;
	pthread_setname_np(conn->keeper, "control");
	return 0;
}

static int conn_init(struct conn *conn, const char *name, const struct clock *clock, struct error *err)
{
	pthread_condattr_t attr;

	snprintf(conn->name, sizeof(conn->name), "%s", name);
	conn->clock = clock;
	conn->parts.tail = &conn->parts.head;
	conn->notes.tail = &conn->notes.head;
	frame_reader_init(&conn->reader, FRAME_RUNNING);
	conn->heard_ns = clock_now(clock);
	conn->beat_ns = conn->heard_ns + COMM_BEAT_NS;
	pthread_mutex_init(&conn->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&conn->changed, &attr);
	pthread_condattr_destroy(&attr);
	conn->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (conn->wake < 0)
		return error_sys(err, -errno, "cannot make an eventfd for the control connection");
	return 0;
}

int conn_open(int fd, const char *name, const struct clock *clock, struct conn **ret, struct error *err)
{
	struct conn *conn = calloc(1, sizeof(*conn));
	int rc;

	if (!conn) {
		close(fd);
		return error_set(err, -ENOMEM, "no memory for the control connection");
	}
	conn->fd = fd;
	rc = conn_init(conn, name, clock, err);
	if (!rc)
		rc = start_keeper(conn, err);
	if (rc < 0) {
		conn_close(conn);
		return rc;
	}
	*ret = conn;
	return 0;
}

/* Our last bytes would be lost if we closed while the other side's are unread: say that we end, wait for its end. */
static void linger(struct conn *conn)
{
	const struct patience until = { .clock = conn->clock, .deadline_ns = clock_now(conn->clock) + LINGER_NS };
	uint8_t scrap[4096];
	ssize_t n = 1;

	shutdown(conn->fd, SHUT_WR);
	while (n && !wait_fd(conn->fd, POLLIN, &until)) {
		n = recv(conn->fd, scrap, sizeof(scrap), MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return;
	}
}

static void stop_keeper(struct conn *conn)
{
	const int64_t deadline = clock_now(conn->clock) + LINGER_NS;

	pthread_mutex_lock(&conn->lock);
	while (!conn->error.code && conn->out.len && wait_change(conn, deadline))
		;
	conn->closing = true;
	pthread_mutex_unlock(&conn->lock);
	wake_keeper(conn);
	pthread_join(conn->keeper, NULL);
}

static void queue_release(struct conn_queue *queue)
{
	struct buf payload;

	while (queue->items) {
		dequeue(queue, &payload);
		buf_release(&payload);
	}
}

void conn_close(struct conn *conn)
{
	if (!conn)
		return;
	if (conn->running) {
		stop_keeper(conn);
		if (!conn->error.code)
			linger(conn);
	}
	close(conn->fd);
	if (conn->wake >= 0)
		close(conn->wake);
	queue_release(&conn->parts);
	queue_release(&conn->notes);
	frame_reader_release(&conn->reader);
	buf_release(&conn->out);
	pthread_cond_destroy(&conn->changed);
	pthread_mutex_destroy(&conn->lock);
	free(conn);
}
