/* Takes work requests from ibv_post_send and ibv_post_recv into the queues. */
#include "double.h"

#include <errno.h>
#include <string.h>

int post_state(const struct d_qp *qp)
{
	enum ibv_qp_state state = qp->fab->state;

	return state == IBV_QPS_RTS || state == IBV_QPS_SQD || state == IBV_QPS_ERR ? 0 : EINVAL;
}

/* A place is free again when a completion that covers it was polled. */
struct d_wr *post_slot(struct d_qp *qp)
{
	uint32_t at = qp->head + qp->staged;
	struct d_wr *wr = &qp->sq[at % qp->cap.max_send_wr];

	if (at - __atomic_load_n(&qp->done, __ATOMIC_ACQUIRE) >= qp->cap.max_send_wr)
		return NULL;
	memset(wr, 0, sizeof(*wr));
	qp->staged++;
	return wr;
}

int post_inline(struct d_qp *qp, struct d_wr *wr, const struct ibv_sge *from, size_t n)
{
	uint8_t *to = qp->inline_data + (size_t)(wr - qp->sq) * qp->cap.max_inline_data;
	uint32_t used = 0;

	for (size_t i = 0; i < n; i++) {
		if (from[i].length > qp->cap.max_inline_data - used)
			return EINVAL;
		memcpy(to + used, (const void *)(uintptr_t)from[i].addr, from[i].length);
		used += from[i].length;
	}
	wr->inlined = true;
	wr->num_sge = 1;
	wr->sge[0] = (struct ibv_sge){ .addr = (uintptr_t)to, .length = used };
	return 0;
}

static bool one_sided(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM || opcode == IBV_WR_RDMA_READ;
}

static bool atomic_op(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static void take_target(const struct d_qp *qp, const struct ibv_send_wr *from, struct d_wr *wr)
{
	wr->srqn = from->qp_type.xrc.remote_srqn;
	if (one_sided(from->opcode)) {
		wr->remote = from->wr.rdma.remote_addr;
		wr->rkey = from->wr.rdma.rkey;
	} else if (atomic_op(from->opcode)) {
		wr->remote = from->wr.atomic.remote_addr;
		wr->rkey = from->wr.atomic.rkey;
		wr->compare_add = from->wr.atomic.compare_add;
		wr->swap = from->wr.atomic.swap;
	} else if (qp->ex.qp_base.qp_type == IBV_QPT_UD) {
		wr->ah = (struct d_ah *)from->wr.ud.ah;
		wr->ud_qpn = from->wr.ud.remote_qpn;
		wr->ud_qkey = from->wr.ud.remote_qkey;
	}
}

static int take(struct d_qp *qp, const struct ibv_send_wr *from)
{
	struct d_wr *wr;

	if (from->num_sge < 0 || (uint32_t)from->num_sge > qp->cap.max_send_sge)
		return EINVAL;
	wr = post_slot(qp);
	if (!wr)
		return ENOMEM;
	wr->wr_id = from->wr_id;
	wr->opcode = from->opcode;
	wr->flags = from->send_flags;
	wr->imm = from->imm_data;
	wr->num_sge = (uint32_t)from->num_sge;
	take_target(qp, from, wr);
	if (from->send_flags & IBV_SEND_INLINE)
		return post_inline(qp, wr, from->sg_list, wr->num_sge);
	if (wr->num_sge)
		memcpy(wr->sge, from->sg_list, wr->num_sge * sizeof(*wr->sge));
	return 0;
}

int post_send(struct ibv_qp *base, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	int code = fails(CALL_ibv_post_send);
	struct d_qp *qp = d_qp_of(base);

	pthread_mutex_lock(&qp->lock);
	if (!code)
		code = qp->fab->type == IBV_QPT_DRIVER ? EINVAL : post_state(qp); /* it would go nowhere */
	for (; wr && !code; wr = wr->next) {
		qp->staged = 0;
		code = take(qp, wr);
		if (code)
			break;
		qp->head++;
	}
	qp->staged = 0;
	if (code)
		*bad = wr;
	send_run(qp);
	if (send_stalls(qp))
		pump_add(qp);
	pthread_mutex_unlock(&qp->lock);
	return code;
}

static int take_recv(struct fab_qp *qp, uint32_t max_sge, const struct ibv_recv_wr *wr)
{
	struct fab_recv *rq = fabric_at(qp->rq);
	struct fab_recv *at;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > max_sge)
		return EINVAL;
	if (qp->rq_head - qp->rq_tail >= qp->rq_size)
		return ENOMEM;
	at = &rq[qp->rq_head++ % qp->rq_size];
	at->wr_id = wr->wr_id;
	at->num_sge = (uint32_t)wr->num_sge;
	if (at->num_sge)
		memcpy(at->sge, wr->sg_list, at->num_sge * sizeof(*at->sge));
	return 0;
}

int post_recv(struct ibv_qp *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int code = fails(CALL_ibv_post_recv);
	struct d_qp *qp = d_qp_of(base);
	struct fab_qp *fab = qp->fab;

	fabric_lock(&fab->lock);
	if (!code && fab->state == IBV_QPS_RESET)
		code = EINVAL;
	for (; wr && !code; wr = wr->next) {
		code = take_recv(fab, qp->cap.max_recv_sge, wr);
		if (code)
			break;
	}
	if (code)
		*bad = wr;
	if (fab->state == IBV_QPS_ERR)
		qp_fail(fab);
	fabric_unlock(&fab->lock);
	return code;
}
