/* Opens the server's listening socket: both address families at once where the host has them, or one given address. */
#include "orch/serve.h"

#include "base/net.h"
#include "spec/spec.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 128

static int explain(int code, const struct request *request, struct error *err)
{
	const unsigned port = (unsigned)request->control_port;

	if (code == -EADDRINUSE)
		return error_set(err, code,
				 "port %u is taken on this host (does a fabperf server run already?): choose "
				 "another by --port",
				 port);
	if (code == -EACCES)
		return error_set(err, code, "port %u may not be used by this user: choose one above 1023 by --port",
				 port);
	if (code == -EADDRNOTAVAIL)
		return error_set(err, code, "cannot listen on '%s': this host has no such address (--bind)",
				 request->bind);
	return error_sys(err, code, "cannot listen on port %u", port);
}

/* A listening socket or a negative errno. */
static int open_one(const struct sockaddr *address, socklen_t len)
{
	const int one = 1, zero = 0;
	const int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rc;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (address->sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (!bind(fd, address, len) && !listen(fd, BACKLOG))
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

static int open_any(unsigned port)
{
	const struct sockaddr_in6 six = { .sin6_family = AF_INET6,
					  .sin6_port = htons((uint16_t)port),
					  .sin6_addr = IN6ADDR_ANY_INIT };
	const struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	const int fd = open_one((const struct sockaddr *)&six, sizeof(six));

	if (fd != -EAFNOSUPPORT && fd != -EADDRNOTAVAIL)
		return fd;
	return open_one((const struct sockaddr *)&four, sizeof(four)); /* a host without IPv6 */
}

/* A socket on --bind's first address that works. */
static int open_given(const struct request *request, struct error *err)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct addrinfo *list = NULL;
	int rc, fd = -EADDRNOTAVAIL;
	char port[8];

	snprintf(port, sizeof(port), "%u", (unsigned)request->control_port & 0xffff);
	rc = getaddrinfo(request->bind, port, &hints, &list);
	if (rc)
		return error_set(err, -EADDRNOTAVAIL, "cannot resolve --bind '%s': %s", request->bind,
				 gai_strerror(rc));
	for (const struct addrinfo *one = list; one && fd < 0; one = one->ai_next)
		fd = open_one(one->ai_addr, one->ai_addrlen);
	freeaddrinfo(list);
	return fd;
}

static int port_of(int fd, unsigned *ret)
{
	struct sockaddr_storage address = { 0 };
	socklen_t len = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address, &len))
		return -errno;
	*ret = net_port(&address);
	return 0;
}

int listen_open(const struct request *request, int *ret_fd, unsigned *ret_port, struct error *err)
{
	const int fd = request->bind[0] ? open_given(request, err) : open_any((unsigned)request->control_port);
	int rc;

	if (fd < 0)
		return explain(fd, request, err);
	rc = port_of(fd, ret_port);
	if (rc < 0) {
		close(fd);
		return error_sys(err, rc, "cannot tell the listening port");
	}
	*ret_fd = fd;
	return 0;
}
