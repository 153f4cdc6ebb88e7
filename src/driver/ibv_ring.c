/* Prepares an endpoint's rings of work requests: everything that repeats is written once, before the traffic. */
#include "driver/ibv.h"

#include "mem/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static uint64_t lcm(uint64_t a, uint64_t b)
{
	return a / gcd(a, b) * b;
}

/* Longer rings than needed cost cache and memory. */
static uint64_t ring_most(const struct ib_port *p)
{
	return IB_RINGS_MAX / (p->spec->qps ? p->spec->qps : 1) + 1;
}

/* Requests in a ring: a multiple of step, at least batch; of both slot counts, too, if that is not too many. */
static uint32_t ring_length(const struct ib_port *p, uint64_t step, uint64_t batch, uint64_t slots, uint64_t peer_slots)
{
	uint64_t len = step, both = lcm(lcm(step, slots), peer_slots);

	if (both <= ring_most(p) || both <= step)
		len = both;
	return (uint32_t)((batch + len - 1) / len * len);
}

static struct ib_area area_of(uint64_t base, uint32_t slots, uint32_t stride, uint32_t ring)
{
	return (struct ib_area){
		.bytes = (uint64_t)slots * stride,
		.end = base + (uint64_t)slots * stride,
		.step = (uint64_t)(ring % slots) * stride,
	};
}

static enum ibv_wr_opcode opcode(enum verb verb)
{
	switch (verb) {
	case VERB_WRITE:
		return IBV_WR_RDMA_WRITE;
	case VERB_WRITE_IMM:
		return IBV_WR_RDMA_WRITE_WITH_IMM;
	case VERB_READ:
		return IBV_WR_RDMA_READ;
	case VERB_ATOMIC_FA:
		return IBV_WR_ATOMIC_FETCH_AND_ADD;
	case VERB_ATOMIC_CS:
		return IBV_WR_ATOMIC_CMP_AND_SWP;
	default:
		return IBV_WR_SEND;
	}
}

/* Whether the peer's processor watches one place for writes. */
static bool is_watched(const struct ib_ep *ep, const struct op *op)
{
	const struct spec *spec = ib_ep_port(ep)->spec;

	return op->verb == VERB_WRITE && spec->metric == METRIC_LAT && latency_is_ping_pong(spec);
}

/* Slots of the peer that are written to or read from in turn. */
static uint32_t target_slots(const struct ib_ep *ep, const struct work *work)
{
	bool sends = true;

	for (uint32_t i = 0; i < work->ops; i++)
		sends &= work->op[i].verb == VERB_SEND;
	return sends || is_watched(ep, work->op) ? 1 : ep->peer.rx_slots;
}

static void set_target(const struct ib_ep *ep, const struct op *op, uint64_t slot, struct ibv_send_wr *wr)
{
	const struct ib_addr *peer = &ep->peer;
	uint64_t remote = peer->rx_addr + slot * peer->stride + op->offset;

	wr->qp_type.xrc.remote_srqn = peer->srqn;
	if (verb_is_atomic(op->verb)) {
		/* Adds 1; or swaps 0 for 1, which is as much work when the word differs. */
		wr->wr.atomic.remote_addr = remote;
		wr->wr.atomic.rkey = peer->rkey;
		wr->wr.atomic.compare_add = op->verb == VERB_ATOMIC_FA;
		wr->wr.atomic.swap = 1;
	} else if (op->verb != VERB_SEND) {
		wr->wr.rdma.remote_addr = remote;
		wr->wr.rdma.rkey = peer->rkey;
	} else if (ib_ep_port(ep)->spec->transport == TRANSPORT_UD) {
		wr->wr.ud.ah = ib_ep_port(ep)->ah;
		wr->wr.ud.remote_qpn = peer->qpn;
		wr->wr.ud.remote_qkey = peer->qkey;
	}
}

static bool is_inlined(const struct ib_ep *ep, const struct op *op)
{
	return ib_can_inline(op->verb) && op->size > 0 && op->size <= ib_ep_port(ep)->inline_max;
}

static void fill_tx(struct ib_ep *ep, const struct work *work)
{
	const struct ep_conf *conf = &ep->conf;
	const uint64_t base = conf->mem->base + conf->tx_offset;
	const uint32_t targets = target_slots(ep, work);

	for (uint32_t i = 0; i < ep->tx_len; i++) {
		const struct op *op = &work->op[i % work->ops];
		const uint32_t cycle = i / work->ops;
		struct ib_tx_slot *slot = &ep->tx[i];

		slot->sge.addr = base + (uint64_t)(cycle % conf->tx_slots) * conf->stride + op->offset;
		slot->sge.length = op->size;
		slot->sge.lkey = conf->region->mr->lkey;
		slot->wr.wr_id = (uint64_t)ep->ep.index << 32 | i;
		slot->wr.next = &ep->tx[i + 1 == ep->tx_len ? 0 : i + 1].wr;
		slot->wr.sg_list = &slot->sge;
		slot->wr.num_sge = 1;
		slot->wr.opcode = opcode(op->verb);
		slot->wr.imm_data = htonl(ep->ep.index);
		slot->wr.send_flags = (i + 1) % work->signal ? 0 : IBV_SEND_SIGNALED;
		if (is_inlined(ep, op)) /* with ibv_wr_* the call says so, but the soft-RoCE provider also looks here */
			slot->wr.send_flags |= IBV_SEND_INLINE;
		set_target(ep, op, cycle % targets, &slot->wr);
	}
	if (ep->qpx)
		ib_ring_emitter(ep);
}

static bool has_sends(const struct work *work)
{
	for (uint32_t i = 0; i < work->ops; i++) {
		if (work->op[i].verb == VERB_SEND)
			return true;
	}
	return false;
}

static void fill_rx(struct ib_ep *ep, const struct work *work)
{
	const struct ib_port *p = ib_ep_port(ep);
	const struct ep_conf *conf = &ep->conf;
	const struct op *largest = work_largest(work);
	const uint64_t base = conf->mem->base + conf->rx_offset + largest->offset;
	const bool ud = p->spec->transport == TRANSPORT_UD;

	for (uint32_t i = 0; i < ep->rx_len; i++) {
		struct ib_rx_slot *slot = &ep->rx[i];

		slot->sge[1].addr = base + (uint64_t)(i % conf->rx_slots) * conf->stride;
		/* a receive may stay for the next test */
		slot->sge[1].length = port_test(&p->conf, 1) ? p->most_size : largest->size;
		slot->sge[1].lkey = conf->region->mr->lkey;
		if (ud) {
			slot->sge[0].addr = (uintptr_t)p->scratch;
			slot->sge[0].length = IB_GRH_BYTES;
			slot->sge[0].lkey = p->scratch_mr->lkey;
		}
		slot->wr.wr_id = (uint64_t)ep->ep.index << 32 | IB_WRID_RX | i;
		slot->wr.next = &ep->rx[i + 1 == ep->rx_len ? 0 : i + 1].wr;
		slot->wr.sg_list = ud ? slot->sge : slot->sge + 1;
		slot->wr.num_sge = ud ? 2 : 1;
		if (!has_sends(work)) /* the payload goes where the peer says */
			slot->wr.num_sge = 0;
	}
}

/* What messages may be as large as: most have the largest size. */
static void expect_sizes(struct ib_ep *ep, const struct work *work)
{
	const uint32_t header = ib_ep_port(ep)->spec->transport == TRANSPORT_UD ? IB_GRH_BYTES : 0;
	unsigned smaller = 0;

	ep->rx_bytes = work_largest(work)->size + header;
	ep->shortfall = 0;
	memset(ep->rx_smaller, 0, sizeof(ep->rx_smaller));
	for (uint32_t i = 0; i < work->ops; i++) {
		if (work->op[i].size + header != ep->rx_bytes)
			ep->rx_smaller[smaller++] = work->op[i].size + header;
	}
}

static int check_op(const struct ib_ep *ep, const struct op *op, struct error *err)
{
	const struct ib_addr *peer = &ep->peer;

	if (!ep->conf.tx_slots || op->offset + op->size > ep->conf.stride)
		return error_set(err, -EINVAL, "%u bytes do not fit in slots of %u bytes", op->size, ep->conf.stride);
	if (op->verb != VERB_SEND && (!peer->rx_slots || op->offset + op->size > peer->stride))
		return error_set(err, -EINVAL, "the peer offers no memory for a %s of %u bytes", verb_name(op->verb),
				 op->size);
	return 0;
}

static int check_tx(const struct ib_ep *ep, const struct work *work, struct error *err)
{
	const struct ib_port *p = ib_ep_port(ep);
	int rc = 0;

	if (!ep->connected)
		return error_set(err, -ENOTCONN, "QP %u of %s is not connected yet", ep->qp->qp_num, p->name);
	if (!work->signal || work->signal > p->tx_depth)
		return error_set(err, -EINVAL, "--cq_mod %u must be 1 to %u (--tx_depth)", work->signal, p->tx_depth);
	if (work->ops > 1 && lcm(work->signal, work->ops) > IB_RINGS_MAX)
		return error_set(
			err, -EINVAL,
			"--cq_mod %u and %u operations repeat together only every %llu work requests, at most %u are "
			"allowed: take a --cq_mod that is a multiple of %u",
			work->signal, work->ops, (unsigned long long)lcm(work->signal, work->ops), IB_RINGS_MAX,
			work->ops);
	for (uint32_t i = 0; rc == 0 && i < work->ops; i++)
		rc = check_op(ep, &work->op[i], err);
	return rc;
}

static int prepare_tx(struct ib_ep *ep, const struct work *work, struct error *err)
{
	const struct ib_addr *peer = &ep->peer;
	const struct ep_conf *conf = &ep->conf;
	uint32_t peer_slots, len;
	struct ib_tx_slot *ring;
	int rc = check_tx(ep, work, err);

	if (rc)
		return rc;
	peer_slots = target_slots(ep, work);
	len = ring_length(ib_ep_port(ep), lcm(work->signal, work->ops), work->batch ? work->batch : 1,
			  (uint64_t)conf->tx_slots * work->ops, (uint64_t)peer_slots * work->ops);
	ring = calloc(len, sizeof(*ring));
	if (!ring)
		return error_set(err, -ENOMEM, "no memory for a ring of %u work requests", len);
	free(ep->tx);
	ep->tx = ring;
	ep->tx_len = len;
	ep->tx_head = ep->tx_tail = 0;
	ep->tx_free = ib_ep_port(ep)->tx_depth;
	ep->tx_local = area_of(conf->mem->base + conf->tx_offset, conf->tx_slots, conf->stride, len / work->ops);
	ep->tx_remote = area_of(peer->rx_addr, peer_slots, peer->stride, len / work->ops);
	fill_tx(ep, work);
	return 0;
}

static int prepare_rx(struct ib_ep *ep, const struct work *work, struct error *err)
{
	const struct ib_port *p = ib_ep_port(ep);
	const struct ep_conf *conf = &ep->conf;
	const struct op *largest = work_largest(work);
	struct ib_rx_slot *ring;
	uint64_t batch;
	uint32_t len;

	if (!conf->rx_slots || largest->offset + largest->size > conf->stride)
		return error_set(err, -EINVAL, "messages of %u bytes do not fit in receive slots of %u bytes",
				 largest->size, conf->stride);
	batch = work->batch < ring_most(p) ? work->batch : ring_most(p);
	len = ring_length(p, 1, batch ? batch : 1, conf->rx_slots, 1);
	ring = calloc(len, sizeof(*ring));
	if (!ring)
		return error_set(err, -ENOMEM, "no memory for a ring of %u receives", len);
	free(ep->rx);
	ep->rx = ring;
	ep->rx_len = len;
	ep->rx_head = 0;
	ep->rx_slot = 0;
	ep->rx_local = area_of(conf->mem->base + conf->rx_offset, conf->rx_slots, conf->stride, len);
	expect_sizes(ep, work);
	fill_rx(ep, work);
	return 0;
}

int ib_ring_prepare(struct ep *ep, const struct work *work, struct error *err)
{
	if (work->kind == WORK_RX)
		return prepare_rx(ib_ep_of(ep), work, err);
	return prepare_tx(ib_ep_of(ep), work, err);
}
