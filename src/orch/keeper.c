/* The keeper thread of a control connection: reads frames, answers pings at once, sends beats, notices a dead peer. */
#include "base/clock.h"
#include "orch/conn.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define READ_SIZE 65536u

/* Marks the connection as failed; the lock is free. -1: the keeper ends. */
static int give_up(struct conn *conn, const struct error *why)
{
	pthread_mutex_lock(&conn->lock);
	conn_fail(conn, why);
	pthread_mutex_unlock(&conn->lock);
	return -1;
}

static int give_up_protocol(struct conn *conn, struct error *why)
{
	error_prefix(why, "protocol error of host '%s'", conn->name);
	return give_up(conn, why);
}

static int answer_ping(struct conn *conn, const struct buf *payload, int64_t arrived_ns, struct error *err)
{
	struct buf pong = BUF_INIT;
	struct cursor c;
	int rc = 0;

	cursor_init(&c, payload->data, payload->len);
	buf_put_u64(&pong, cursor_u64(&c));
	buf_put_u64(&pong, (uint64_t)arrived_ns);
	pthread_mutex_lock(&conn->lock);
	if (conn->out.len - conn->out_done > CONN_UNSENT) {
		rc = error_set(err, -EPROTO, "it sends pings and does not read the answers");
	} else {
		buf_put_u64(&pong, (uint64_t)clock_now(conn->clock));
		conn_put(conn, FRAME_PONG, pong.data, pong.len);
	}
	pthread_mutex_unlock(&conn->lock);
	buf_release(&pong);
	return rc;
}

/* An answer to an older ping, one that was given up, is dropped. */
static int accept_pong(struct conn *conn, const struct buf *payload, int64_t arrived_ns, struct error *err)
{
	struct cursor c;
	uint64_t number;
	int rc = 0;

	cursor_init(&c, payload->data, payload->len);
	number = cursor_u64(&c);
	pthread_mutex_lock(&conn->lock);
	if (number > conn->ping_number || !number) {
		rc = error_set(err, -EPROTO, "it answers a ping that was not sent");
	} else if (number == conn->ping_number && !conn->ping_answered) {
		conn->ping.t2 = (int64_t)cursor_u64(&c);
		conn->ping.t3 = (int64_t)cursor_u64(&c);
		conn->ping.t4 = arrived_ns;
		conn->ping_answered = true;
		pthread_cond_broadcast(&conn->changed);
	}
	pthread_mutex_unlock(&conn->lock);
	return rc;
}

static int queue_frame(struct conn *conn, unsigned type, struct buf *payload, struct error *err)
{
	struct conn_queue *queue = type == FRAME_NOTE ? &conn->notes : &conn->parts;
	const size_t items = type == FRAME_NOTE ? CONN_NOTES : CONN_FRAMES;
	int rc = 0;

	pthread_mutex_lock(&conn->lock);
	if (queue->items >= items || queue->bytes + payload->len > CONN_BYTES) {
		rc = error_set(err, -EPROTO, "more %s messages came than may wait (%zu, %u bytes)", frame_name(type),
			       items, CONN_BYTES);
		buf_release(payload);
	} else if (conn_enqueue(queue, type, payload)) {
		rc = error_set(err, -ENOMEM, "no memory for its %s message", frame_name(type));
	} else {
		pthread_cond_broadcast(&conn->changed);
	}
	pthread_mutex_unlock(&conn->lock);
	return rc;
}

static int handle_frame(struct conn *conn, int64_t arrived_ns, struct error *err)
{
	struct frame_reader *reader = &conn->reader;
	struct buf payload;

	switch (reader->type) {
	case FRAME_BEAT:
		return 0;
	case FRAME_PING:
		return answer_ping(conn, &reader->payload, arrived_ns, err);
	case FRAME_PONG:
		return accept_pong(conn, &reader->payload, arrived_ns, err);
	default:
		frame_reader_take(reader, &payload);
		return queue_frame(conn, reader->type, &payload, err);
	}
}

static int handle_bytes(struct conn *conn, const uint8_t *data, size_t len, int64_t arrived_ns)
{
	struct error why = { 0 };
	size_t used;
	int rc;

	while (len) {
		rc = frame_reader_feed(&conn->reader, data, len, &used, &why);
		if (rc > 0)
			rc = handle_frame(conn, arrived_ns, &why);
		if (rc < 0)
			return give_up_protocol(conn, &why);
		data += used;
		len -= used;
	}
	return 0;
}

/* 0, or -1 when the keeper ends because the connection failed. */
static int read_some(struct conn *conn)
{
	uint8_t data[READ_SIZE];
	int64_t arrived;
	ssize_t n;

	n = recv(conn->fd, data, sizeof(data), MSG_DONTWAIT);
	arrived = clock_now(conn->clock);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		pthread_mutex_lock(&conn->lock);
		conn_broken(conn, n ? -errno : 0);
		pthread_mutex_unlock(&conn->lock);
		return -1;
	}
	conn->heard_ns = arrived;
	return handle_bytes(conn, data, (size_t)n, arrived);
}

/* 0, or -1 when the peer has been silent for too long. */
static int keep_time(struct conn *conn)
{
	const int64_t now = clock_now(conn->clock);
	struct error why = { 0 };

	if (now - conn->heard_ns >= COMM_SILENCE_NS) {
		error_set(&why, -ETIMEDOUT, "host '%s' has been silent for %.1f s (stopped, hung or cut off)",
			  conn->name, (double)(now - conn->heard_ns) / 1e9);
		return give_up(conn, &why);
	}
	if (now < conn->beat_ns)
		return 0;
	conn->beat_ns = now + COMM_BEAT_NS;
	pthread_mutex_lock(&conn->lock);
	if (!conn->out.len) /* else what waits there will show that we live, as soon as it is read */
		conn_put(conn, FRAME_BEAT, NULL, 0);
	pthread_mutex_unlock(&conn->lock);
	return 0;
}

/* Sleeps until something happens or is due. The events of the socket, or -1 when the keeper is asked to end. */
static int sleep_until_event(struct conn *conn)
{
	const int64_t silent = conn->heard_ns + COMM_SILENCE_NS;
	const int64_t due = silent < conn->beat_ns ? silent : conn->beat_ns;
	struct pollfd fds[2] = { { .fd = conn->fd, .events = POLLIN }, { .fd = conn->wake, .events = POLLIN } };
	int64_t left = due - clock_now(conn->clock);
	struct timespec timeout;
	uint64_t count;
	bool closing;

	pthread_mutex_lock(&conn->lock);
	if (conn->out.len)
		fds[0].events |= POLLOUT;
	closing = conn->closing;
	pthread_mutex_unlock(&conn->lock);
	if (closing)
		return -1;
	left = left > 0 ? left : 0;
	timeout = (struct timespec){ .tv_sec = left / 1000000000, .tv_nsec = left % 1000000000 };
	if (ppoll(fds, 2, &timeout, NULL) < 0)
		return 0;
	if (fds[1].revents && read(conn->wake, &count, sizeof(count)) < 0)
		return 0;
	return fds[0].revents;
}

void *conn_keep(void *arg)
{
	struct conn *conn = arg;
	int events;

	while ((events = sleep_until_event(conn)) >= 0) {
		if ((events & (POLLIN | POLLHUP | POLLERR)) && read_some(conn))
			break;
		if (events & POLLOUT) {
			pthread_mutex_lock(&conn->lock);
			conn_flush(conn);
			pthread_mutex_unlock(&conn->lock);
		}
		if (keep_time(conn))
			break;
	}
	return NULL;
}
