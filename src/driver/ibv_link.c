/* An RDMA port's link: its rate, as its width and speed say, where messages travel over it, and its names. */
#include "driver/ibv.h"

#include "spec/counter.h"

#include <stdio.h>
#include <string.h>

#define VENDOR_RXE 0xffffffu /* software devices repeat what some network interface says, or make it up */
#define VENDOR_SIW 0x626d74u

/* Gb/s of payload and headers that one lane carries at most, by the bit of active_speed: InfiniBand without its line code. */
static const struct {
	double infiniband, ethernet;
} lanes[] = {
	{ 2, 2.5 },         { 4, 5 },         { 8, 10 },      { 10, 10.3125 },
	{ 13.64, 14.0625 }, { 25, 25.78125 }, { 50, 53.125 }, { 100, 106.25 },
};

static unsigned lane_count(uint8_t width)
{
	switch (width) {
	case 1:
		return 1;
	case 2:
		return 4;
	case 4:
		return 8;
	case 8:
		return 12;
	case 16:
		return 2;
	default:
		return 0;
	}
}

double ib_link_gbps(const struct ibv_port_attr *attr)
{
	const bool ethernet = attr->link_layer == IBV_LINK_LAYER_ETHERNET;

	for (unsigned i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++)
		if (attr->active_speed == 1u << i)
			return lane_count(attr->active_width) * (ethernet ? lanes[i].ethernet : lanes[i].infiniband);
	return 0;
}

double ib_link_rate(const struct ib_port *p, const struct ib_ep *ep)
{
	const bool software = p->dev.vendor_id == VENDOR_RXE || p->dev.vendor_id == VENDOR_SIW;
	const bool loops = !memcmp(ep->own.gid, ep->peer.gid, sizeof(ep->own.gid)) && ep->own.lid == ep->peer.lid;

	return software || loops ? 0 : ib_link_gbps(&p->attr);
}

void ib_port_nic(const struct port *port, struct nic *ret)
{
	const struct ib_port *p = (const struct ib_port *)port;

	*ret = (struct nic){ .port = p->num };
	snprintf(ret->device, sizeof(ret->device), "%s", p->name);
}
