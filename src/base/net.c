/* Handles socket addresses of either IP family, and connects in time. */
#include "base/net.h"

#include "base/wait.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

/* sin_port and sin6_port lie at the same place. */
_Static_assert(offsetof(struct sockaddr_in, sin_port) == offsetof(struct sockaddr_in6, sin6_port), "ports differ");

socklen_t net_len(const struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

uint16_t net_port(const struct sockaddr_storage *address)
{
	return ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
}

void net_set_port(struct sockaddr_storage *address, uint16_t port)
{
	((struct sockaddr_in6 *)address)->sin6_port = htons(port);
}

int net_connect(int fd, const struct sockaddr *to, socklen_t len, const struct patience *until)
{
	socklen_t size = sizeof(int);
	int code, rc;

	if (!connect(fd, to, len))
		return 0;
	if (errno != EINPROGRESS)
		return -errno;
	rc = wait_fd(fd, POLLOUT, until);
	if (rc < 0)
		return rc;
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) ? -errno : -code;
}

static int family_of(int fd)
{
	struct sockaddr_storage own = { 0 };
	socklen_t len = sizeof(own);

	return getsockname(fd, (struct sockaddr *)&own, &len) < 0 ? -errno : own.ss_family;
}

int net_set_class(int fd, unsigned traffic_class)
{
	const int family = family_of(fd), value = (int)traffic_class;

	if (family < 0)
		return family;
	if (family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &value, sizeof(value)) < 0)
		return -errno;
	return setsockopt(fd, IPPROTO_IP, IP_TOS, &value, sizeof(value)) < 0 ? -errno : 0; /* mapped addresses, too */
}

int net_class(int fd)
{
	const bool v6 = family_of(fd) == AF_INET6;
	int value = 0;
	socklen_t len = sizeof(value);

	if (getsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_TCLASS : IP_TOS, &value, &len) < 0)
		return -errno;
	return value;
}
