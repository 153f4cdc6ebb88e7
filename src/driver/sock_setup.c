/* Sockets of the socket driver before any traffic: made, sized, bound, waited for. */
#include "driver/sock.h"

#include "base/net.h"

#include <errno.h>
#include <netinet/in.h>
#include <unistd.h>

int sock_set(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) < 0 ? -errno : 0;
}

int sock_get(int fd, int level, int option)
{
	int value = 0;
	socklen_t len = sizeof(value);

	return getsockopt(fd, level, option, &value, &len) < 0 ? -errno : value;
}

/* The kernel doubles what it is given and cuts it at the limit silently: root may pass the limit, others are refused. */
static int set_buffer(int fd, int option, int force, const char *limit, uint64_t bytes, struct error *err)
{
	const int value = (int)bytes;

	if (sock_set(fd, SOL_SOCKET, force, value) < 0)
		sock_set(fd, SOL_SOCKET, option, value);
	if ((uint64_t)sock_get(fd, SOL_SOCKET, option) < bytes)
		return error_set(err, -EPERM,
				 "--sock_buf %llu is more than this host allows: raise %s with sysctl, or ask for less",
				 (unsigned long long)bytes, limit);
	return 0;
}

#define UDP_BUFFER (4 << 20) /* asked for when --sock_buf leaves the choice to us; the kernel may give less */

static int set_buffers(const struct sock_port *p, int fd, int type, struct error *err)
{
	const uint64_t bytes = p->spec->sock_buf;
	int rc;

	if (bytes == SPEC_AUTO || bytes == 0) {
		/* TCP tunes itself; UDP starts with room for a few hundred datagrams */
		if (type == SOCK_DGRAM && sock_set(fd, SOL_SOCKET, SO_RCVBUFFORCE, UDP_BUFFER) < 0)
			sock_set(fd, SOL_SOCKET, SO_RCVBUF, UDP_BUFFER);
		if (type == SOCK_DGRAM && sock_set(fd, SOL_SOCKET, SO_SNDBUFFORCE, UDP_BUFFER) < 0)
			sock_set(fd, SOL_SOCKET, SO_SNDBUF, UDP_BUFFER);
		return 0;
	}
	if (bytes > INT32_MAX / 2)
		return error_set(err, -ERANGE, "--sock_buf %llu is too large: at most %d bytes",
				 (unsigned long long)bytes, INT32_MAX / 2);
	rc = set_buffer(fd, SO_SNDBUF, SO_SNDBUFFORCE, "net.core.wmem_max", bytes, err);
	if (rc < 0)
		return rc;
	return set_buffer(fd, SO_RCVBUF, SO_RCVBUFFORCE, "net.core.rmem_max", bytes, err);
}

int sock_socket(const struct sock_port *p, int type, struct error *err)
{
	const int fd = socket(p->here.ss_family, type | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return sock_fail(err, -errno, "make a socket for", &p->here);
	rc = set_buffers(p, fd, type, err);
	if (rc == 0 && p->spec->traffic_class) {
		rc = net_set_class(fd, (unsigned)p->spec->traffic_class);
		if (rc < 0)
			sock_fail(err, rc, "set the traffic class of a socket for", &p->here);
	}
	if (rc < 0) {
		close(fd);
		return rc;
	}
	return fd;
}

int sock_bind(const struct sock_port *p, int fd, uint64_t port, struct error *err)
{
	struct sockaddr_storage address = p->here;

	if (port > UINT16_MAX)
		return error_set(err, -ERANGE,
				 "--data_port %llu leaves no port for endpoint %llu of worker %u: ports end at 65535",
				 (unsigned long long)p->spec->data_port, (unsigned long long)port - p->spec->data_port,
				 p->worker);
	net_set_port(&address, (uint16_t)port);
	if (bind(fd, (struct sockaddr *)&address, net_len(&address)) < 0)
		return sock_fail(err, -errno, "bind a data socket to", &address);
	return 0;
}
