/* The network interface that a data connection leaves by, and its rate, where a real one knows it. */
#include "driver/sock.h"

#include "base/units.h"
#include "spec/counter.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool same_host(const struct sockaddr *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in *a4 = (const struct sockaddr_in *)a, *b4 = (const struct sockaddr_in *)b;
	const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)a, *b6 = (const struct sockaddr_in6 *)b;

	if (!a || a->sa_family != b->ss_family)
		return false;
	if (a->sa_family == AF_INET)
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return a->sa_family == AF_INET6 && IN6_ARE_ADDR_EQUAL(&a6->sin6_addr, &b6->sin6_addr);
}

/* The interface that has the address, "" when none has. */
static void interface_of(const struct ifaddrs *list, const struct sockaddr_storage *address, char ret[SPEC_NAME])
{
	ret[0] = '\0';
	for (const struct ifaddrs *i = list; i; i = i->ifa_next)
		if (same_host(i->ifa_addr, address))
			snprintf(ret, SPEC_NAME, "%s", i->ifa_name);
}

/* Only what sits on a device: veth and bridges name a speed that they do not keep to. Mb/s; -1 or an error: unknown. */
static double speed_of(const char *interface)
{
	char path[SPEC_NAME + 40], text[24] = "";
	uint64_t mbps = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/net/%s/device", interface);
	if (access(path, F_OK))
		return 0;
	snprintf(path, sizeof(path), "/sys/class/net/%s/speed", interface);
	file = fopen(path, "re");
	if (file && fgets(text, sizeof(text), file))
		text[strcspn(text, "\n")] = '\0';
	if (file)
		fclose(file);
	return units_parse_int(text, &mbps, NULL) ? 0 : (double)mbps / 1000;
}

double sock_link_rate(const struct sockaddr_storage *here, const struct sockaddr_storage *peer)
{
	char mine[SPEC_NAME], its[SPEC_NAME];
	struct ifaddrs *list;

	if (getifaddrs(&list))
		return 0;
	interface_of(list, here, mine);
	interface_of(list, peer, its); /* also one of this host's: the kernel does not send it out */
	freeifaddrs(list);
	return mine[0] && !its[0] ? speed_of(mine) : 0;
}

void sock_nic(const struct port *port, struct nic *ret)
{
	const struct sock_port *p = (const struct sock_port *)port;
	struct sockaddr_storage here = { 0 };
	socklen_t len = sizeof(here);
	char mine[SPEC_NAME], its[SPEC_NAME];
	struct ifaddrs *list;

	*ret = (struct nic){ .sockets = true };
	if (!p->eps || !p->ep[0] || p->ep[0]->fd < 0 || getsockname(p->ep[0]->fd, (struct sockaddr *)&here, &len) < 0 ||
	    getifaddrs(&list))
		return;
	interface_of(list, &here, mine);
	interface_of(list, &p->ep[0]->peer, its);
	freeifaddrs(list);
	snprintf(ret->interface, sizeof(ret->interface), "%s", its[0] ? "lo" : mine);
}
