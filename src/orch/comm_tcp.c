/* The communicator of two ranks joined by one TCP connection: rank 0 is the client, rank 1 the server. */
#include "orch/comm.h"

#include "base/clock.h"
#include "base/net.h"
#include "base/wait.h"
#include "orch/conn.h"
#include "orch/hello.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct comm_tcp {
	struct comm comm;
	struct conn *conn;
};

static struct conn *conn_of(struct comm *comm)
{
	return ((struct comm_tcp *)comm)->conn;
}

static unsigned other(const struct comm *comm)
{
	return 1 - comm->rank;
}

/* Moves the next part of a collective call into ret, which held something else. Ctrl-C ends the wait where it may. */
static int take(struct comm *comm, enum frame_type type, struct buf *ret, int64_t deadline_ns, struct error *err)
{
	struct buf part = BUF_INIT;
	int rc = conn_take(conn_of(comm), type, &part, deadline_ns, comm->interrupted, err);

	if (rc < 0)
		return rc;
	buf_release(ret);
	*ret = part;
	return 0;
}

static int tcp_bcast(struct comm *comm, struct buf *data, int64_t deadline_ns, struct error *err)
{
	if (comm->rank == 0)
		return conn_send(conn_of(comm), FRAME_BCAST, data, deadline_ns, err);
	return take(comm, FRAME_BCAST, data, deadline_ns, err);
}

static int tcp_gather(struct comm *comm, const struct buf *mine, struct buf *all, int64_t deadline_ns,
		      struct error *err)
{
	int rc;

	if (comm->rank != 0)
		return conn_send(conn_of(comm), FRAME_GATHER, mine, deadline_ns, err);
	rc = take(comm, FRAME_GATHER, &all[1], deadline_ns, err);
	if (rc < 0)
		return rc;
	buf_clear(&all[0]);
	buf_put(&all[0], mine->data, mine->len);
	return all[0].failed ? error_set(err, -ENOMEM, "no memory for %zu bytes of results", mine->len) : 0;
}

static int tcp_exchange(struct comm *comm, const struct buf *to, struct buf *from, int64_t deadline_ns,
			struct error *err)
{
	int rc = conn_send(conn_of(comm), FRAME_EXCHANGE, &to[other(comm)], deadline_ns, err);

	return rc < 0 ? rc : take(comm, FRAME_EXCHANGE, &from[other(comm)], deadline_ns, err);
}

static int tcp_note(struct comm *comm, const struct note *note, struct error *err)
{
	struct buf payload = BUF_INIT;
	int rc;

	buf_put_u32(&payload, note->kind);
	buf_put_u64(&payload, note->value);
	if (payload.failed)
		rc = error_set(err, -ENOMEM, "no memory for a note");
	else
		rc = conn_push(conn_of(comm), FRAME_NOTE, payload.data, payload.len, err);
	buf_release(&payload);
	return rc;
}

static int unpack_note(struct comm *comm, const struct buf *payload, struct note *ret, struct error *err)
{
	struct note note = { 0 };
	struct cursor c;
	uint32_t kind;

	cursor_init(&c, payload->data, payload->len);
	kind = cursor_u32(&c);
	note.value = cursor_u64(&c);
	if (c.failed || c.left || kind <= NOTE_NONE || kind > NOTE_STOP)
		return error_set(err, -EPROTO, "host '%s' sent a malformed note", comm->peer_name);
	note.kind = (enum note_kind)kind;
	*ret = note;
	return 0;
}

static int tcp_wait(struct comm *comm, int64_t timeout_ns, struct note *ret, struct error *err)
{
	const int64_t now = clock_now(comm->clock);
	struct buf payload = BUF_INIT;
	int rc;

	rc = conn_take_note(conn_of(comm), &payload, timeout_ns < INT64_MAX - now ? now + timeout_ns : INT64_MAX, err);
	if (rc == -EAGAIN) {
		*ret = (struct note){ .kind = NOTE_NONE };
		return 0;
	}
	if (!rc)
		rc = unpack_note(comm, &payload, ret, err);
	buf_release(&payload);
	return rc;
}

static int tcp_ping(struct comm *comm, const unsigned *rank, unsigned count, struct ping *ret, int64_t deadline_ns,
		    struct error *err)
{
	if (count != 1 || *rank != other(comm))
		return error_set(err, -EINVAL, "rank %u cannot be pinged from rank %u", *rank, comm->rank);
	return conn_ping(conn_of(comm), ret, deadline_ns, err);
}

static int tcp_mark(struct comm *comm, unsigned traffic_class, struct error *err)
{
	const int rc = net_set_class(conn_of(comm)->fd, traffic_class);

	return rc < 0 ? error_sys(err, rc, "cannot set the traffic class of the control connection") : 0;
}

static void tcp_close(struct comm *comm)
{
	conn_close(conn_of(comm));
	free(comm);
}

static const struct comm_ops tcp_ops = {
	.bcast = tcp_bcast,
	.gather = tcp_gather,
	.exchange = tcp_exchange,
	.note = tcp_note,
	.wait = tcp_wait,
	.ping = tcp_ping,
	.mark = tcp_mark,
	.close = tcp_close,
};

int comm_tcp_open(int fd, unsigned rank, const char *name, const struct clock *clock, struct comm **ret,
		  struct error *err)
{
	struct comm_tcp *tcp = calloc(1, sizeof(*tcp));
	socklen_t local = sizeof(tcp->comm.local), remote = sizeof(tcp->comm.remote);
	int rc;

	if (!tcp) {
		close(fd);
		return error_set(err, -ENOMEM, "no memory for the communicator");
	}
	tcp->comm = (struct comm){ .ops = &tcp_ops, .rank = rank, .size = 2, .clock = clock };
	snprintf(tcp->comm.peer_name, sizeof(tcp->comm.peer_name), "%s", name);
	if (getsockname(fd, (struct sockaddr *)&tcp->comm.local, &local) ||
	    getpeername(fd, (struct sockaddr *)&tcp->comm.remote, &remote)) {
		rc = error_sys(err, -errno, "host '%s' is no longer connected", name);
		close(fd);
		free(tcp);
		return rc;
	}
	rc = conn_open(fd, name, clock, &tcp->conn, err);
	if (rc < 0) {
		free(tcp);
		return rc;
	}
	tcp->comm.gone = &tcp->conn->gone;
	*ret = &tcp->comm;
	return 0;
}

int comm_tcp_client(int fd, const char *name, const struct patience *until, struct comm **ret, struct error *err)
{
	struct hello hello;
	int rc;

	rc = hello_prepare(fd, err);
	if (!rc)
		rc = hello_call(fd, name, until, &hello, err);
	if (!rc)
		return comm_tcp_open(fd, 0, name, until->clock, ret, err);
	close(fd);
	return rc;
}
