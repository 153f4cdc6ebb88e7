/* Posts prepared work requests by the ibv_wr_* calls, which build the device's own format without a detour. */
#include "driver/ibv.h"

#include <errno.h>

static void payload(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	ibv_wr_set_sge(qpx, wr->sg_list->lkey, wr->sg_list->addr, wr->sg_list->length);
}

static void payload_inline(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	ibv_wr_set_inline_data(qpx, (void *)(uintptr_t)wr->sg_list->addr, wr->sg_list->length);
}

static void emit_write(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	ibv_wr_rdma_write(qpx, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
	payload(qpx, wr);
}

static void emit_write_inline(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	ibv_wr_rdma_write(qpx, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
	payload_inline(qpx, wr);
}

static void emit_write_imm(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	ibv_wr_rdma_write_imm(qpx, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, wr->imm_data);
	payload(qpx, wr);
}

static void emit_write_imm_inline(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	ibv_wr_rdma_write_imm(qpx, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, wr->imm_data);
	payload_inline(qpx, wr);
}

static void emit_read(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	ibv_wr_rdma_read(qpx, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
	payload(qpx, wr);
}

static void emit_atomic_fa(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	ibv_wr_atomic_fetch_add(qpx, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr, wr->wr.atomic.compare_add);
	payload(qpx, wr);
}

static void emit_atomic_cs(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	ibv_wr_atomic_cmp_swp(qpx, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr, wr->wr.atomic.compare_add,
			      wr->wr.atomic.swap);
	payload(qpx, wr);
}

static void emit_send(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	ibv_wr_send(qpx);
	payload(qpx, wr);
}

static void emit_send_inline(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	ibv_wr_send(qpx);
	payload_inline(qpx, wr);
}

static void emit_datagram(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	ibv_wr_send(qpx);
	ibv_wr_set_ud_addr(qpx, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
	payload(qpx, wr);
}

static void emit_datagram_inline(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	ibv_wr_send(qpx);
	ibv_wr_set_ud_addr(qpx, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
	payload_inline(qpx, wr);
}

static ib_emitter *emitter_of(const struct ibv_send_wr *wr, bool datagram)
{
	const bool inlined = wr->send_flags & IBV_SEND_INLINE;

	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE:
		return inlined ? emit_write_inline : emit_write;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return inlined ? emit_write_imm_inline : emit_write_imm;
	case IBV_WR_RDMA_READ:
		return emit_read;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return emit_atomic_fa;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return emit_atomic_cs;
	default:
		if (datagram)
			return inlined ? emit_datagram_inline : emit_datagram;
		return inlined ? emit_send_inline : emit_send;
	}
}

/* Rings whose requests are not all of one kind. */
static void emit_any(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	emitter_of(wr, qpx->qp_base.qp_type == IBV_QPT_UD)(qpx, wr);
}

static void emit_xrc(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	((const struct ib_ep *)qpx->qp_base.qp_context)->emit_body(qpx, wr);
	ibv_wr_set_xrc_srqn(qpx, wr->qp_type.xrc.remote_srqn);
}

void ib_ring_emitter(struct ib_ep *ep)
{
	const bool datagram = ep->qp->qp_type == IBV_QPT_UD;
	ib_emitter *all = emitter_of(&ep->tx[0].wr, datagram);
	for (uint32_t i = 1; i < ep->tx_len; i++) {
		if (emitter_of(&ep->tx[i].wr, datagram) != all)
			all = emit_any;
	}
	ep->emit_body = all;
	ep->emit = ep->dci ? ib_dc_emit : ep->srq ? emit_xrc : all;
}

int ib_ring_post_wr(struct ib_ep *ep, unsigned n, unsigned flags)
{
	struct ibv_qp_ex *qpx = ep->qpx;
	uint32_t at = ep->tx_head;
	int rc;

	ibv_wr_start(qpx);
	for (unsigned i = 0; i < n; i++) {
		const struct ibv_send_wr *wr = &ep->tx[at].wr;

		qpx->wr_id = wr->wr_id;
		qpx->wr_flags = wr->send_flags;
		if (flags & POST_LAST && i + 1 == n)
			qpx->wr_flags |= IBV_SEND_SIGNALED;
		ep->emit(qpx, wr);
		at = at + 1 == ep->tx_len ? 0 : at + 1;
	}
	rc = ibv_wr_complete(qpx); /* all or nothing */
	if (__builtin_expect(rc != 0, 0))
		return ib_ring_is_full(ep, rc) ? 0 : ib_post_error(ep, "ibv_wr_complete", rc);
	ib_ring_advance(ep, n);
	return (int)n;
}
