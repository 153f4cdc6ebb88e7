/* The null device's wire: records of what was sent, over one TCP connection a port. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/net.h"
#include "base/wait.h"
#include "driver/null.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define RECORD      16 /* bytes on the wire, little endian: u32 endpoint, u32 count, u64 first number */
#define STRANGER_NS 1000000000LL /* for a connection to show its token */
#define BACKLOG     16

struct null_wire {
	const struct clock *clock;
	int listener, fd;
	struct sockaddr_storage address;
	uint64_t token; /* passive side's: it takes no connection that does not begin with it */
	struct buf out; /* active: bytes that the kernel has not taken */
	uint8_t in[NULL_RECORDS * RECORD]; /* passive: what came; its first `have` bytes are an incomplete record */
	size_t have;
};

static struct null_wire *wire_new(const struct port_conf *conf)
{
	struct null_wire *wire = calloc(1, sizeof(*wire));

	if (wire) {
		wire->clock = conf->clock;
		wire->listener = wire->fd = -1;
	}
	return wire;
}

void null_wire_close(struct null_wire *wire)
{
	if (!wire)
		return;
	if (wire->listener >= 0)
		close(wire->listener);
	if (wire->fd >= 0)
		close(wire->fd);
	buf_release(&wire->out);
	free(wire);
}

int null_wire_listen(const struct port_conf *conf, struct null_wire **ret, struct error *err)
{
	struct null_wire *wire = wire_new(conf);
	socklen_t len = net_len(conf->local);

	if (!wire)
		return error_set(err, -ENOMEM, "no memory for the null device's wire");
	wire->address = *conf->local;
	net_set_port(&wire->address, 0);
	wire->listener = socket(wire->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (getrandom(&wire->token, sizeof(wire->token), 0) != sizeof(wire->token) || wire->listener < 0 ||
	    bind(wire->listener, (struct sockaddr *)&wire->address, len) < 0 || listen(wire->listener, BACKLOG) < 0 ||
	    getsockname(wire->listener, (struct sockaddr *)&wire->address, &len) < 0) {
		int rc = error_sys(err, -errno, "the null device cannot listen for its wire");

		null_wire_close(wire);
		return rc;
	}
	*ret = wire;
	return 0;
}

void null_wire_address(const struct null_wire *wire, struct buf *to)
{
	buf_put_u16(to, net_port(&wire->address));
	buf_put_u64(to, wire->token);
}

int null_wire_connect(const struct port_conf *conf, struct cursor *peer, int64_t deadline_ns, struct null_wire **ret,
		      struct error *err)
{
	const struct patience until = { .clock = conf->clock, .deadline_ns = deadline_ns };
	struct null_wire *wire = wire_new(conf);
	int rc;

	if (!wire)
		return error_set(err, -ENOMEM, "no memory for the null device's wire");
	wire->address = *conf->remote;
	net_set_port(&wire->address, cursor_u16(peer));
	buf_put_u64(&wire->out, cursor_u64(peer));
	wire->fd = socket(wire->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	rc = wire->fd < 0 ? -errno : 0;
	if (!rc)
		rc = net_connect(wire->fd, (struct sockaddr *)&wire->address, net_len(&wire->address), &until);
	if (!rc)
		rc = null_wire_flush(wire);
	if (rc < 0) {
		null_wire_close(wire);
		return error_sys(err, rc, "the null device cannot connect its wire");
	}
	*ret = wire;
	return 0;
}

/* Whether a connection that was accepted shows the token in time. */
static bool shows_token(const struct null_wire *wire, int fd, const struct patience *until)
{
	const struct patience share = wait_sooner(until, STRANGER_NS);
	uint8_t bytes[sizeof(wire->token)];
	struct cursor c;
	size_t got = 0;
	ssize_t n;

	while (got < sizeof(bytes)) {
		if (wait_fd(fd, POLLIN, &share))
			return false;
		n = recv(fd, bytes + got, sizeof(bytes) - got, MSG_DONTWAIT);
		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	cursor_init(&c, bytes, sizeof(bytes));
	return cursor_u64(&c) == wire->token;
}

int null_wire_accept(struct null_wire *wire, int64_t deadline_ns, struct error *err)
{
	const struct patience until = { .clock = wire->clock, .deadline_ns = deadline_ns };
	int fd, rc;

	while (!(rc = wait_fd(wire->listener, POLLIN, &until))) {
		fd = accept4(wire->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0 && shows_token(wire, fd, &until)) {
			wire->fd = fd;
			return 0;
		}
		if (fd >= 0)
			close(fd);
		else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			return error_sys(err, -errno, "the null device cannot accept its wire");
	}
	return error_sys(err, rc, "the null device's wire was not connected");
}

int null_wire_flush(struct null_wire *wire)
{
	struct buf *out = &wire->out;
	ssize_t n;

	if (out->failed)
		return out->failed;
	if (!out->len)
		return 1;
	n = send(wire->fd, out->data, out->len, MSG_NOSIGNAL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	out->len -= (size_t)n;
	memmove(out->data, out->data + n, out->len);
	return !out->len;
}

int null_wire_send(struct null_wire *wire, const struct null_record *records, int count, struct error *err)
{
	int rc = null_wire_flush(wire), taken = 0;

	if (rc > 0) {
		for (; taken < count; taken++) {
			buf_put_u32(&wire->out, records[taken].ep);
			buf_put_u32(&wire->out, records[taken].count);
			buf_put_u64(&wire->out, records[taken].first);
		}
		rc = null_wire_flush(wire);
	}
	return rc < 0 ? error_sys(err, rc, "the null device's wire broke: the other side is gone") : taken;
}

int null_wire_receive(struct null_wire *wire, struct null_record *ret, int max, struct error *err)
{
	const size_t room = (size_t)(max < NULL_RECORDS ? max : NULL_RECORDS) * RECORD - wire->have;
	ssize_t n = recv(wire->fd, wire->in + wire->have, room, MSG_DONTWAIT);
	struct cursor c;
	int found = 0;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return error_sys(err, -errno, "the null device's wire broke");
	if (n == 0)
		return error_set(err, -ECONNRESET, "the other side closed the null device's wire");
	cursor_init(&c, wire->in, wire->have + (size_t)n);
	for (; c.left >= RECORD; found++) {
		ret[found].ep = cursor_u32(&c);
		ret[found].count = cursor_u32(&c);
		ret[found].first = cursor_u64(&c);
	}
	wire->have = c.left;
	memmove(wire->in, c.data, c.left);
	return found;
}
