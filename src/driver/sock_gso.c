/* UDP segmentation offload: many datagrams through the kernel as one (UDP_SEGMENT), and back in one receive (UDP_GRO). */
#include "driver/sock.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <unistd.h>

#define SUPER_MAX 65507u /* payload of one super-datagram, bytes */

/* Datagrams that this kernel takes in one: it says so only by refusing. Tried on a socket connected to itself. */
static bool kernel_takes(const struct sock_port *p, uint32_t segments)
{
	static const uint8_t payload[256] = { 0 };
	struct sockaddr_storage self;
	socklen_t len = sizeof(self);
	const int fd = sock_socket(p, SOCK_DGRAM, NULL);
	bool takes;

	if (fd < 0)
		return false;
	takes = sock_bind(p, fd, 0, NULL) == 0 && getsockname(fd, (struct sockaddr *)&self, &len) == 0 &&
		connect(fd, (struct sockaddr *)&self, len) == 0 && sock_set(fd, SOL_UDP, UDP_SEGMENT, 1) == 0 &&
		send(fd, payload, segments, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)segments;
	close(fd);
	return takes;
}

static int path_mtu(const struct sock_ep *ep)
{
	const bool v6 = ep->peer.ss_family == AF_INET6;

	return v6 ? sock_get(ep->fd, IPPROTO_IPV6, IPV6_MTU) : sock_get(ep->fd, IPPROTO_IP, IP_MTU);
}

/* NULL, or why datagrams of that size cannot be segmented. */
static const char *obstacle(const struct sock_ep *ep, uint32_t size)
{
	const uint32_t headers = ep->peer.ss_family == AF_INET6 ? 48 : 28;
	const int mtu = path_mtu(ep);

	if (size > SUPER_MAX / 2)
		return "two messages do not fit the 65,507 bytes of one call";
	if (mtu > 0 && size + headers > (uint32_t)mtu)
		return "a message with its headers does not fit the path's MTU";
	return NULL;
}

/* --gso on is refused before any traffic if it cannot be had with one of the port's tests: *size is then its size. */
static const char *obstacle_of_any(const struct sock_ep *ep, uint32_t *size)
{
	const struct sock_port *p = sock_port_of(ep);
	const struct spec *test;
	const char *why = NULL;

	for (unsigned i = 0; !why && (test = port_test(&p->conf, i)); i++) {
		*size = (uint32_t)test->size;
		why = obstacle(ep, *size);
	}
	return why;
}

int sock_gso_tx(struct sock_ep *ep, uint32_t size, struct error *err)
{
	const struct sock_port *p = sock_port_of(ep);
	const char *why = NULL;
	uint32_t segments, other = size;

	if (ep->segments > 1)
		sock_set(ep->fd, SOL_UDP, UDP_SEGMENT, 0); /* of the test before */
	ep->segments = 1;
	if (p->spec->gso == CHOICE_OFF)
		return 0;
	if (p->spec->metric == METRIC_LAT)
		why = "one message at a time leaves nothing to segment";
	else
		why = p->spec->gso == CHOICE_ON ? obstacle_of_any(ep, &other) : obstacle(ep, size);
	if (!why && sock_set(ep->fd, SOL_UDP, UDP_SEGMENT, (int)size) < 0)
		why = "this kernel has no UDP_SEGMENT (Linux 4.18 and later do)";
	if (why)
		return p->spec->gso == CHOICE_AUTO
			       ? 0
			       : error_set(err, -EOPNOTSUPP, "--gso on, messages of %u bytes: %s", other, why);
	segments = kernel_takes(p, 128) ? 128 : 64;
	ep->segments = segments < SUPER_MAX / size ? segments : SUPER_MAX / size;
	return 0;
}

int sock_gso_rx(struct sock_ep *ep, struct error *err)
{
	const struct sock_port *p = sock_port_of(ep);

	ep->gro = false;
	if (p->spec->gso == CHOICE_OFF || p->spec->metric == METRIC_LAT)
		return 0;
	ep->gro = sock_set(ep->fd, SOL_UDP, UDP_GRO, 1) == 0;
	if (!ep->gro && p->spec->gso == CHOICE_ON)
		return error_set(err, -EOPNOTSUPP, "--gso on: this kernel has no UDP_GRO (Linux 5.0 and later do)");
	return 0;
}

/* The way out to this peer cannot do it after all (no checksum offload): one datagram a packet from now on. */
bool sock_gso_give_up(struct sock_ep *ep)
{
	if (ep->segments <= 1 || sock_port_of(ep)->spec->gso != CHOICE_AUTO)
		return false;
	ep->segments = 1;
	return sock_set(ep->fd, SOL_UDP, UDP_SEGMENT, 0) == 0;
}

uint32_t sock_gro_segment(struct msghdr *msg, uint32_t len)
{
	int size;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_UDP || c->cmsg_type != UDP_GRO)
			continue;
		memcpy(&size, CMSG_DATA(c), sizeof(size));
		if (size > 0)
			return (uint32_t)size;
	}
	return len;
}
