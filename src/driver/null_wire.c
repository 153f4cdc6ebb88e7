/* The null device's wire: records of what was sent, over one TCP connection a port. */
#include "base/buf.h"
#include "base/clock.h"
#include "driver/null.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct null_wire {
	const struct clock *clock;
	int listener, fd;
	struct sockaddr_storage address;
	uint8_t partial[sizeof(struct null_record)]; /* a record that was cut by the end of a read or write */
	size_t partial_len;
};

static socklen_t address_len(const struct sockaddr_storage *a)
{
	return a->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

static void set_port(struct sockaddr_storage *a, in_port_t port)
{
	if (a->ss_family == AF_INET6)
		((struct sockaddr_in6 *)a)->sin6_port = port;
	else
		((struct sockaddr_in *)a)->sin_port = port;
}

static in_port_t get_port(const struct sockaddr_storage *a)
{
	return a->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)a)->sin6_port
					: ((const struct sockaddr_in *)a)->sin_port;
}

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
	free(wire);
}

static int wait_for(const struct null_wire *wire, int fd, short events, int64_t deadline_ns)
{
	struct pollfd p = { .fd = fd, .events = events };

	for (;;) {
		int64_t left = (deadline_ns - clock_now(wire->clock)) / 1000000;
		int rc = poll(&p, 1, left > 0 ? (int)left : 0);

		if (rc > 0)
			return 0;
		if (rc < 0 && errno != EINTR)
			return -errno;
		if (rc == 0 && left <= 0)
			return -ETIMEDOUT;
	}
}

int null_wire_listen(const struct port_conf *conf, struct null_wire **ret, struct error *err)
{
	struct null_wire *wire = wire_new(conf);
	socklen_t len = address_len(conf->local);

	if (!wire)
		return error_set(err, -ENOMEM, "no memory for the null device's wire");
	wire->address = *conf->local;
	set_port(&wire->address, 0);
	wire->listener = socket(wire->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (wire->listener < 0 || bind(wire->listener, (struct sockaddr *)&wire->address, len) < 0 ||
	    listen(wire->listener, 1) < 0 || getsockname(wire->listener, (struct sockaddr *)&wire->address, &len) < 0) {
		int rc = error_sys(err, -errno, "the null device cannot listen for its wire");

		null_wire_close(wire);
		return rc;
	}
	*ret = wire;
	return 0;
}

void null_wire_address(const struct null_wire *wire, struct buf *to)
{
	buf_put_u16(to, ntohs(get_port(&wire->address)));
}

int null_wire_connect(const struct port_conf *conf, struct cursor *peer, int64_t deadline_ns, struct null_wire **ret,
		      struct error *err)
{
	struct null_wire *wire = wire_new(conf);
	int rc = 0, failure = 0;
	socklen_t len = sizeof(failure);

	if (!wire)
		return error_set(err, -ENOMEM, "no memory for the null device's wire");
	wire->address = *conf->remote;
	set_port(&wire->address, htons(cursor_u16(peer)));
	wire->fd = socket(wire->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (wire->fd < 0 || (connect(wire->fd, (struct sockaddr *)&wire->address, address_len(&wire->address)) < 0 &&
			     errno != EINPROGRESS))
		rc = -errno;
	if (!rc)
		rc = wait_for(wire, wire->fd, POLLOUT, deadline_ns);
	if (!rc && getsockopt(wire->fd, SOL_SOCKET, SO_ERROR, &failure, &len) == 0)
		rc = -failure;
	if (rc) {
		null_wire_close(wire);
		return error_sys(err, rc, "the null device cannot connect its wire");
	}
	*ret = wire;
	return 0;
}

int null_wire_accept(struct null_wire *wire, int64_t deadline_ns, struct error *err)
{
	int rc = wait_for(wire, wire->listener, POLLIN, deadline_ns);

	if (!rc) {
		wire->fd = accept4(wire->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		rc = wire->fd < 0 ? -errno : 0;
	}
	return rc ? error_sys(err, rc, "the null device's wire was not connected") : 0;
}

/* Finishes a record that an earlier call had to cut: 1 = nothing is left over, 0 = still full, negative errno. */
static int flush_partial(struct null_wire *wire)
{
	ssize_t n;

	if (!wire->partial_len)
		return 1;
	n = send(wire->fd, wire->partial, wire->partial_len, MSG_NOSIGNAL);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	wire->partial_len -= (size_t)n;
	memmove(wire->partial, wire->partial + n, wire->partial_len);
	return wire->partial_len == 0;
}

int null_wire_send(struct null_wire *wire, const struct null_record *records, int count, struct error *err)
{
	const size_t size = sizeof(records[0]);
	ssize_t n = flush_partial(wire);

	if (n > 0)
		n = send(wire->fd, records, (size_t)count * size, MSG_NOSIGNAL);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n < 0)
		return error_sys(err, -errno, "the null device's wire broke: the other side is gone");
	if (n % (ssize_t)size) { /* the rest of a cut record goes first next time: it counts as sent */
		size_t whole = (size_t)n / size, cut = (size_t)n % size;

		wire->partial_len = size - cut;
		memcpy(wire->partial, (const uint8_t *)&records[whole] + cut, wire->partial_len);
		return (int)whole + 1;
	}
	return (int)((size_t)n / size);
}

int null_wire_receive(struct null_wire *wire, struct null_record *ret, int max, struct error *err)
{
	const size_t size = sizeof(ret[0]);
	ssize_t n;

	memcpy(ret, wire->partial, wire->partial_len);
	n = recv(wire->fd, (uint8_t *)ret + wire->partial_len, (size_t)max * size - wire->partial_len, MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n < 0)
		return error_sys(err, -errno, "the null device's wire broke");
	if (n == 0)
		return error_set(err, -ECONNRESET, "the other side closed the null device's wire");
	n += (ssize_t)wire->partial_len;
	wire->partial_len = (size_t)n % size;
	memcpy(wire->partial, (uint8_t *)ret + (size_t)n - wire->partial_len, wire->partial_len);
	return (int)((size_t)n / size);
}
