/* Addresses of the socket driver: which one to use, how the peer learns it, and sentences about it. */
#include "driver/sock.h"

#include "base/buf.h"
#include "base/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

/* The same address seen as either family; sa must be of that family. */
static struct sockaddr_in *v4(struct sockaddr_storage *sa)
{
	return (struct sockaddr_in *)sa;
}

static struct sockaddr_in6 *v6(struct sockaddr_storage *sa)
{
	return (struct sockaddr_in6 *)sa;
}

static const struct sockaddr_in6 *const_v6(const struct sockaddr_storage *sa)
{
	return (const struct sockaddr_in6 *)sa;
}

char *sock_name(const struct sockaddr_storage *address, char *ret)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)address;
	const void *bytes =
		address->ss_family == AF_INET6 ? (const void *)&const_v6(address)->sin6_addr : &in->sin_addr;
	char text[INET6_ADDRSTRLEN];

	if (!inet_ntop(address->ss_family, bytes, text, sizeof(text)))
		snprintf(ret, SOCK_NAME_MAX, "address of family %d", address->ss_family);
	else if (net_port(address))
		snprintf(ret, SOCK_NAME_MAX, "%s port %u", text, net_port(address));
	else
		snprintf(ret, SOCK_NAME_MAX, "%s", text);
	return ret;
}

/* ::ffff:10.0.0.1, as a socket for both families shows an IPv4 peer, is 10.0.0.1. */
static void unmap(struct sockaddr_storage *address)
{
	struct in_addr in;

	if (address->ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&v6(address)->sin6_addr))
		return;
	memcpy(&in, &v6(address)->sin6_addr.s6_addr[12], sizeof(in));
	memset(address, 0, sizeof(*address));
	address->ss_family = AF_INET;
	v4(address)->sin_addr = in;
}

static bool link_local(const struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&const_v6(address)->sin6_addr);
}

/* The interface's first address of the family; for IPv6 a link-local one only when there is no other. */
static bool interface_address(const struct ifaddrs *list, const char *interface, sa_family_t family,
			      struct sockaddr_storage *ret)
{
	struct sockaddr_storage address = { 0 };
	bool found = false;

	for (const struct ifaddrs *i = list; i; i = i->ifa_next) {
		if (!i->ifa_addr || i->ifa_addr->sa_family != family || strcmp(i->ifa_name, interface) != 0)
			continue;
		memcpy(&address, i->ifa_addr,
		       family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
		if (!found || link_local(ret))
			*ret = address;
		found = true;
	}
	return found;
}

static int find_on_interface(const char *interface, sa_family_t family, struct sockaddr_storage *ret, struct error *err)
{
	struct sockaddr_storage address = { 0 };
	struct ifaddrs *list;
	bool found;

	if (if_nametoindex(interface) == 0)
		return error_set(
			err, -ENODEV,
			"there is no network interface '%s' on this host: -d takes a name that 'ip link' shows",
			interface);
	if (getifaddrs(&list) < 0)
		return error_sys(err, -errno, "cannot list the network interfaces of this host");
	found = interface_address(list, interface, family, &address);
	freeifaddrs(list);
	if (!found)
		return error_set(
			err, -EADDRNOTAVAIL,
			"network interface '%s' has no %s address, which the control connection uses: give it one, "
			"or name the server by an address of the other family",
			interface, family == AF_INET6 ? "IPv6" : "IPv4");
	*ret = address;
	return 0;
}

int sock_find_here(const struct sockaddr_storage *local, const char *interface, struct sockaddr_storage *ret,
		   struct error *err)
{
	struct sockaddr_storage here = *local;
	int rc;

	unmap(&here);
	if (here.ss_family != AF_INET && here.ss_family != AF_INET6)
		return error_set(err, -EAFNOSUPPORT,
				 "the control connection uses address family %d: sockets need IPv4 or IPv6",
				 here.ss_family);
	if (interface[0]) {
		rc = find_on_interface(interface, here.ss_family, &here, err);
		if (rc < 0)
			return rc;
	}
	net_set_port(&here, 0);
	*ret = here;
	return 0;
}

void sock_addr_pack(const struct sock_addr *addr, struct buf *to)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)&addr->address;
	uint8_t bytes[16] = { 0 };

	if (addr->address.ss_family == AF_INET6)
		memcpy(bytes, &const_v6(&addr->address)->sin6_addr, 16);
	else
		memcpy(bytes, &in->sin_addr, 4);
	buf_put_u8(to, addr->address.ss_family == AF_INET6 ? 6 : 4);
	buf_put(to, bytes, sizeof(bytes));
	buf_put_u16(to, net_port(&addr->address));
	buf_put_u64(to, addr->nonce);
	buf_put_u32(to, addr->worker);
	buf_put_u32(to, addr->index);
}

int sock_addr_unpack(struct cursor *from, const struct sockaddr_storage *here, struct sock_addr *ret, struct error *err)
{
	struct sock_addr addr = { 0 };
	uint8_t bytes[16] = { 0 };
	const uint8_t family = cursor_u8(from);

	cursor_get(from, bytes, sizeof(bytes));
	if (family == 6) {
		addr.address.ss_family = AF_INET6;
		memcpy(&v6(&addr.address)->sin6_addr, bytes, 16);
	} else {
		addr.address.ss_family = AF_INET;
		memcpy(&v4(&addr.address)->sin_addr, bytes, 4);
	}
	net_set_port(&addr.address, cursor_u16(from));
	addr.nonce = cursor_u64(from);
	addr.worker = cursor_u32(from);
	addr.index = cursor_u32(from);
	if (from->failed || (family != 4 && family != 6))
		return error_set(err, -EPROTO,
				 "the peer's socket address cannot be read: both sides must be the same fabperf");
	if (addr.address.ss_family != here->ss_family)
		return error_set(err, -EAFNOSUPPORT,
				 "the peer's data socket is IPv%u and ours is IPv%u: give both sides a -d "
				 "interface with addresses of the same family",
				 family, here->ss_family == AF_INET6 ? 6 : 4);
	if (link_local(&addr.address)) /* the peer's scope means nothing here */
		v6(&addr.address)->sin6_scope_id = const_v6(here)->sin6_scope_id;
	*ret = addr;
	return 0;
}

static const char *likely_cause(int code)
{
	switch (-code) {
	case EADDRINUSE:
		return " (another program uses this port: choose another --data_port)";
	case EADDRNOTAVAIL:
		return " (this host does not have that address, or all its ports are taken)";
	case EACCES:
		return " (ports below 1024 need root: choose a higher --data_port)";
	case EMFILE:
	case ENFILE:
		return " (too many open files: raise the limit with 'ulimit -n' or ask for fewer --qps)";
	case ECONNREFUSED:
		return " (nobody listens there: the peer has ended, or a firewall rejects the data port, see "
		       "--data_port)";
	case ETIMEDOUT:
	case EHOSTUNREACH:
	case ENETUNREACH:
		return " (is that address reachable from here, or does a firewall drop the data port? see -d and "
		       "--data_port)";
	default:
		return "";
	}
}

int sock_fail(struct error *err, int code, const char *what, const struct sockaddr_storage *address)
{
	char name[SOCK_NAME_MAX] = "", reason[128];

	if (address)
		sock_name(address, name);
	return error_set(err, code, "cannot %s%s%s: %s%s", what, address ? " " : "", name,
			 strerror_r(-code, reason, sizeof(reason)), likely_cause(code));
}
