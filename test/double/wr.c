/* Takes work requests from the ibv_wr_* calls: staged between start and complete, then posted all or none. */
#include "double.h"

#include <errno.h>
#include <string.h>

static struct d_qp *of(struct ibv_qp_ex *ex)
{
	return d_qp_of(&ex->qp_base);
}

static struct d_wr *current(struct d_qp *qp)
{
	return &qp->sq[(qp->head + qp->staged - 1) % qp->cap.max_send_wr];
}

struct d_wr *wr_current(struct d_qp *qp)
{
	return qp->staged_error ? NULL : current(qp);
}

/* The first mistake counts; what follows it in the batch is ignored. */
static struct d_wr *begin(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode, uint64_t op)
{
	struct d_qp *qp = of(ex);
	struct d_wr *wr;

	if (!(qp->send_ops & op) && !qp->staged_error)
		qp->staged_error = EINVAL;
	wr = qp->staged_error ? NULL : post_slot(qp);
	if (!wr) {
		qp->staged_error = qp->staged_error ? qp->staged_error : ENOMEM;
		return NULL;
	}
	wr->wr_id = ex->wr_id;
	wr->flags = ex->wr_flags;
	wr->opcode = opcode;
	return wr;
}

static void target(struct d_wr *wr, uint32_t rkey, uint64_t remote)
{
	if (!wr)
		return;
	wr->rkey = rkey;
	wr->remote = remote;
}

static void wr_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote)
{
	target(begin(ex, IBV_WR_RDMA_WRITE, IBV_QP_EX_WITH_RDMA_WRITE), rkey, remote);
}

static void wr_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote, __be32 imm)
{
	struct d_wr *wr = begin(ex, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM);

	target(wr, rkey, remote);
	if (wr)
		wr->imm = imm;
}

static void wr_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote)
{
	target(begin(ex, IBV_WR_RDMA_READ, IBV_QP_EX_WITH_RDMA_READ), rkey, remote);
}

static void wr_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote, uint64_t add)
{
	struct d_wr *wr = begin(ex, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD);

	target(wr, rkey, remote);
	if (wr)
		wr->compare_add = add;
}

static void wr_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote, uint64_t compare, uint64_t swap)
{
	struct d_wr *wr = begin(ex, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP);

	target(wr, rkey, remote);
	if (wr) {
		wr->compare_add = compare;
		wr->swap = swap;
	}
}

static void wr_send(struct ibv_qp_ex *ex)
{
	begin(ex, IBV_WR_SEND, IBV_QP_EX_WITH_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm)
{
	struct d_wr *wr = begin(ex, IBV_WR_SEND_WITH_IMM, IBV_QP_EX_WITH_SEND_WITH_IMM);

	if (wr)
		wr->imm = imm;
}

static void set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	struct d_qp *qp = of(ex);

	if (qp->staged_error)
		return;
	current(qp)->ah = (struct d_ah *)ah;
	current(qp)->ud_qpn = qpn;
	current(qp)->ud_qkey = qkey;
}

static void set_xrc_srqn(struct ibv_qp_ex *ex, uint32_t srqn)
{
	struct d_qp *qp = of(ex);

	if (!qp->staged_error)
		current(qp)->srqn = srqn;
}

static void set_sge_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_sge *list)
{
	struct d_qp *qp = of(ex);

	if (!qp->staged_error && n > qp->cap.max_send_sge)
		qp->staged_error = EINVAL;
	if (qp->staged_error)
		return;
	current(qp)->num_sge = (uint32_t)n;
	memcpy(current(qp)->sge, list, n * sizeof(*list));
}

static void set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
	const struct ibv_sge sge = { .addr = addr, .length = length, .lkey = lkey };

	set_sge_list(ex, 1, &sge);
}

static void set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	struct d_qp *qp = of(ex);
	const struct ibv_sge sge = { .addr = (uintptr_t)addr, .length = (uint32_t)length };

	if (!qp->staged_error)
		qp->staged_error = post_inline(qp, current(qp), &sge, 1);
}

static void wr_start(struct ibv_qp_ex *ex)
{
	struct d_qp *qp = of(ex);

	pthread_mutex_lock(&qp->lock);
	qp->staged = 0;
	qp->staged_error = post_state(qp);
}

static int wr_complete(struct ibv_qp_ex *ex)
{
	int code = fails(CALL_ibv_wr_complete);
	struct d_qp *qp = of(ex);

	if (!code)
		code = qp->staged_error;
	if (!code)
		qp->head += qp->staged;
	qp->staged = 0;
	send_run(qp);
	if (send_stalls(qp))
		pump_add(qp);
	pthread_mutex_unlock(&qp->lock);
	return code;
}

static void wr_abort(struct ibv_qp_ex *ex)
{
	of(ex)->staged = 0;
	pthread_mutex_unlock(&of(ex)->lock);
}

void wr_setup(struct d_qp *qp)
{
	struct ibv_qp_ex *ex = &qp->ex;

	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
	ex->wr_rdma_write = wr_write;
	ex->wr_rdma_write_imm = wr_write_imm;
	ex->wr_rdma_read = wr_read;
	ex->wr_atomic_fetch_add = wr_fetch_add;
	ex->wr_atomic_cmp_swp = wr_cmp_swp;
	ex->wr_send = wr_send;
	ex->wr_send_imm = wr_send_imm;
	ex->wr_set_ud_addr = set_ud_addr;
	ex->wr_set_xrc_srqn = set_xrc_srqn;
	ex->wr_set_sge = set_sge;
	ex->wr_set_sge_list = set_sge_list;
	ex->wr_set_inline_data = set_inline_data;
}
