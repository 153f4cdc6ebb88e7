/* The address that one end of a verbs connection sends to the other, and the check whether the two can talk. */
#include "driver/ibv.h"

#include "base/buf.h"

#include <errno.h>
#include <string.h>

#define ADDR_VERSION 2

void ib_addr_pack(const struct ib_addr *addr, struct buf *to)
{
	buf_put_u8(to, ADDR_VERSION);
	buf_put_u8(to, addr->link_layer);
	buf_put_u8(to, addr->gid_type);
	buf_put_u8(to, addr->mtu);
	buf_put_u8(to, addr->rd_init);
	buf_put_u8(to, addr->rd_resp);
	buf_put(to, addr->gid, sizeof(addr->gid));
	buf_put_u16(to, addr->lid);
	buf_put_u32(to, addr->gid_index);
	buf_put_u32(to, addr->qpn);
	buf_put_u32(to, addr->psn);
	buf_put_u32(to, addr->qkey);
	buf_put_u32(to, addr->rkey);
	buf_put_u32(to, addr->rx_slots);
	buf_put_u32(to, addr->stride);
	buf_put_u64(to, addr->rx_addr);
	buf_put_string(to, addr->device);
	buf_put(to, addr->cm_addr, sizeof(addr->cm_addr));
	buf_put_u16(to, addr->cm_port);
	buf_put_u32(to, addr->ece.vendor);
	buf_put_u32(to, addr->ece.options);
	buf_put_u32(to, addr->target_qpn);
	buf_put_u32(to, addr->srqn);
}

/* What arrives is not trusted: every number is used to set up a queue pair. */
static bool is_sane(const struct ib_addr *a)
{
	bool layer = a->link_layer == IBV_LINK_LAYER_ETHERNET || a->link_layer == IBV_LINK_LAYER_INFINIBAND;

	return layer && a->gid_type <= IBV_GID_TYPE_ROCE_V2 && a->mtu >= IBV_MTU_256 && a->mtu <= IBV_MTU_4096 &&
	       a->qpn <= 0xffffff && a->target_qpn <= 0xffffff && a->srqn <= 0xffffff && a->psn <= 0xffffff;
}

int ib_addr_unpack(struct ib_addr *ret, struct cursor *from, struct error *err)
{
	struct ib_addr a = { 0 };
	uint8_t version = cursor_u8(from);

	if (!from->failed && version != ADDR_VERSION)
		return error_set(err, -EPROTO, "the peer's RDMA address has version %u, this program knows version %u",
				 version, ADDR_VERSION);
	a.link_layer = cursor_u8(from);
	a.gid_type = cursor_u8(from);
	a.mtu = cursor_u8(from);
	a.rd_init = cursor_u8(from);
	a.rd_resp = cursor_u8(from);
	cursor_get(from, a.gid, sizeof(a.gid));
	a.lid = cursor_u16(from);
	a.gid_index = cursor_u32(from);
	a.qpn = cursor_u32(from);
	a.psn = cursor_u32(from);
	a.qkey = cursor_u32(from);
	a.rkey = cursor_u32(from);
	a.rx_slots = cursor_u32(from);
	a.stride = cursor_u32(from);
	a.rx_addr = cursor_u64(from);
	cursor_string(from, a.device, sizeof(a.device));
	cursor_get(from, a.cm_addr, sizeof(a.cm_addr));
	a.cm_port = cursor_u16(from);
	a.ece.vendor = cursor_u32(from);
	a.ece.options = cursor_u32(from);
	a.target_qpn = cursor_u32(from);
	a.srqn = cursor_u32(from);
	if (from->failed || !is_sane(&a))
		return error_set(err, -EPROTO, "the peer's RDMA address is malformed");
	*ret = a;
	return 0;
}

static const char *layer_name(uint8_t layer)
{
	return layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet (RoCE)" : "InfiniBand";
}

int ib_addr_check(const struct ib_addr *own, const struct ib_addr *peer, struct error *err)
{
	char a[IB_GID_TEXT], b[IB_GID_TEXT];

	if (own->link_layer != peer->link_layer)
		return error_set(
			err, -EINVAL,
			"%s here runs over %s, the peer's %s over %s: choose devices of one kind with --device and "
			"--server_device",
			own->device, layer_name(own->link_layer), peer->device, layer_name(peer->link_layer));
	if (own->link_layer != IBV_LINK_LAYER_ETHERNET)
		return 0;
	if (own->gid_type != peer->gid_type)
		return error_set(
			err, -EINVAL,
			"GID %u of %s here is %s, the peer's GID %u of %s is %s: choose entries of one type with "
			"--gid_index",
			own->gid_index, own->device, ib_gid_type_name(own->gid_type), peer->gid_index, peer->device,
			ib_gid_type_name(peer->gid_type));
	if (ib_gid_is_ipv4(own->gid) != ib_gid_is_ipv4(peer->gid))
		return error_set(
			err, -EINVAL,
			"GID %u of %s here (%s) and the peer's GID %u of %s (%s) are not both IPv4 or both IPv6: "
			"choose matching entries with --gid_index or give both interfaces addresses of one family",
			own->gid_index, own->device, ib_gid_format(own->gid, a), peer->gid_index, peer->device,
			ib_gid_format(peer->gid, b));
	return 0;
}
