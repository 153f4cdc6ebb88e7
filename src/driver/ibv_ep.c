/* The endpoints of a verbs port: what one end tells the other, what it makes of the answer, its slots and counters. */
#include "driver/ibv.h"

#include "base/buf.h"
#include "mem/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint8_t clamp_u8(int value)
{
	return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value;
}

static void set_own(struct ib_ep *ep)
{
	const struct ib_port *p = ib_ep_port(ep);
	uint8_t most = clamp_u8(p->dev.max_qp_init_rd_atom);
	uint64_t asked = ib_knob(p->spec->max_rd_atomic, most);

	ep->own = (struct ib_addr){
		.link_layer = p->attr.link_layer,
		.gid_type = (uint8_t)p->gid.gid_type,
		.mtu = (uint8_t)p->attr.active_mtu,
		.rd_init = asked < most ? (uint8_t)asked : most,
		.rd_resp = clamp_u8(p->dev.max_qp_rd_atom),
		.lid = p->attr.lid,
		.gid_index = p->gid.gid_index,
		.qpn = ep->qp->qp_num,
		.target_qpn = ep->target ? ep->target->qp_num : ep->qp->qp_num,
		.psn = (uint32_t)ib_knob(p->spec->start_psn, 0), /* rdma_cm replaces it */
		.qkey = ib_qp_key(p),
		.rkey = ep->conf.region->mr->rkey,
		.rx_slots = ep->conf.rx_slots,
		.stride = ep->conf.stride,
		.rx_addr = ep->conf.mem->base + ep->conf.rx_offset,
	};
	memcpy(ep->own.gid, p->gid.gid.raw, sizeof(ep->own.gid));
	strncpy(ep->own.device, p->name, sizeof(ep->own.device) - 1);
	ib_cm_addr(p, &ep->own);
}

int ib_ep_open(struct port *port, const struct ep_conf *conf, struct ep **ret, struct error *err)
{
	struct ib_port *p = ib_port_of(port);
	struct ib_ep *ep;
	int rc;

	if (conf->index >= p->spec->qps)
		return error_set(err, -EINVAL, "queue pair %u of %llu", conf->index, (unsigned long long)p->spec->qps);
	ep = &p->eps[conf->index];
	ep->ep = (struct ep){ .port = port, .index = conf->index };
	ep->conf = *conf;
	rc = ib_qp_open(ep, err);
	if (rc) {
		ib_ep_close(&ep->ep);
		return rc;
	}
	set_own(ep);
	*ret = &ep->ep;
	if (p->xrcd && ibv_get_srq_num(ep->srq, &ep->own.srqn))
		return error_set(err, -EIO,
				 "RDMA device %s does not tell the number of a receive queue (ibv_get_srq_num)",
				 p->name);
	return p->spec->use_ece ? ib_ece_query(ep, err) : 0;
}

int ib_ep_addr(struct ep *base, struct buf *to, struct error *err)
{
	(void)err;
	ib_addr_pack(&ib_ep_of(base)->own, to);
	return 0;
}

/* The peer's endpoint makes an offer; this one's address will be the answer. */
int ib_ep_offer(struct ep *base, struct cursor *from, struct error *err)
{
	struct ib_ep *ep = ib_ep_of(base);
	int rc = ib_addr_unpack(&ep->peer, from, err);

	ep->answers = true;
	return rc ? rc : ib_ece_answer(ep, err);
}

int ib_ep_connect(struct ep *base, struct cursor *from, int64_t deadline_ns, struct error *err)
{
	struct ib_ep *ep = ib_ep_of(base);
	int rc = ib_addr_unpack(&ep->peer, from, err);

	if (!rc && ib_ep_port(ep)->spec->use_ece && !ep->answers)
		rc = ib_ece_accept(ep, err);
	if (!rc)
		rc = ib_qp_connect(ep, deadline_ns, err);
	if (!rc && ib_ep_port(ep)->pace.on)
		rc = ib_pace_set(ep, err);
	ep->connected = !rc;
	return rc;
}

void ib_ep_close(struct ep *base)
{
	struct ib_ep *ep = ib_ep_of(base);

	if (!ep)
		return;
	ib_qp_close(ep);
	ep->connected = false;
	free(ep->tx);
	free(ep->rx);
	ep->tx = NULL;
	ep->rx = NULL;
}

int ib_ep_cut(struct ep *base, const struct ep_conf *conf, struct error *err)
{
	struct ib_ep *ep = ib_ep_of(base);

	ep->peer.rx_addr += conf->rx_offset - ep->conf.rx_offset; /* both regions are cut alike */
	ep->peer.rx_slots = conf->rx_slots;
	ep->peer.stride = conf->stride;
	ep->conf = *conf;
	ep->bad = 0;
	return ib_ep_port(ep)->pace.on ? ib_pace_set(ep, err) : 0; /* bursts may have another length */
}

uint8_t *ib_ep_tx_slot(struct ep *base)
{
	const struct ib_ep *ep = ib_ep_of(base);

	return ep->tx && ep->conf.mem->data ? (uint8_t *)(uintptr_t)ep->tx[ep->tx_head].sge.addr : NULL;
}

uint8_t *ib_ep_rx_slot(struct ep *base)
{
	const struct ib_ep *ep = ib_ep_of(base);

	if (!ep->conf.mem->data)
		return NULL;
	return ep->conf.mem->data + ep->conf.rx_offset + (size_t)ep->rx_slot * ep->conf.stride;
}

void ib_ep_counters(const struct ep *base, struct counters *ret)
{
	const struct ib_ep *ep = (const struct ib_ep *)base;

	*ret = (struct counters){ .bad = ep->bad, .shortfall = ep->shortfall };
}
