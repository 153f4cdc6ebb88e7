/* Stands in for libibverbs' calls about receive queues that queue pairs share: XRC's, and those of DC targets. */
#include "double.h"

#include <errno.h>
#include <stdlib.h>

/* It is a queue pair that never sends; its number is that queue pair's. */
struct d_srq {
	struct ibv_srq srq;
	struct ibv_qp *queue;
	struct ibv_cq *own; /* until a queue pair says where receives complete */
};

static struct ibv_srq *create(struct ibv_context *context, const struct ibv_srq_attr *attr, enum ibv_qp_type type,
			      struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr_ex init = {
		.cap = { .max_recv_wr = attr->max_wr, .max_recv_sge = attr->max_sge },
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct d_srq *srq = calloc(1, sizeof(*srq));

	if (!srq)
		return fails_pointer(ENOMEM);
	fails_not(true);
	if (!cq)
		srq->own = cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	init.send_cq = init.recv_cq = cq;
	srq->queue = qp_create(context, &init);
	if (!srq->queue && srq->own)
		ibv_destroy_cq(srq->own);
	fails_not(false);
	if (!srq->queue) {
		free(srq);
		return NULL;
	}
	d_qp_of(srq->queue)->fab->state = IBV_QPS_RTR;
	srq->srq.context = context;
	srq->srq.pd = pd;
	return &srq->srq;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	int code = fails(CALL_ibv_create_srq);

	return code ? fails_pointer(code) : create(pd->context, &attr->attr, IBV_QPT_RC, pd, NULL);
}

struct ibv_srq *srq_create(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	int code = fails(CALL_ibv_create_srq_ex);

	if (!code && (attr->srq_type != IBV_SRQT_XRC || !attr->xrcd))
		code = EOPNOTSUPP;
	return code ? fails_pointer(code) : create(context, &attr->attr, IBV_QPT_XRC_RECV, attr->pd, attr->cq);
}

uint32_t srq_serve(struct ibv_srq *base, struct ibv_cq *cq)
{
	struct fab_qp *queue = d_qp_of(((struct d_srq *)base)->queue)->fab;

	queue->cq = fabric_offset(d_cq_of(cq)->fab);
	return queue->qpn;
}

int srq_number(struct ibv_srq *base, uint32_t *ret)
{
	*ret = ((struct d_srq *)base)->queue->qp_num;
	return 0;
}

int srq_post(struct ibv_srq *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int code = fails(CALL_ibv_post_srq_recv);

	if (code) {
		*bad = wr;
		return code;
	}
	fails_not(true);
	code = post_recv(((struct d_srq *)base)->queue, wr, bad);
	fails_not(false);
	return code;
}

int ibv_destroy_srq(struct ibv_srq *base)
{
	int code = fails_to_end(CALL_ibv_destroy_srq, base);
	struct d_srq *srq = (struct d_srq *)base;

	if (code)
		return code;
	qp_destroy(srq->queue);
	fails_not(true);
	if (srq->own)
		ibv_destroy_cq(srq->own);
	fails_not(false);
	free(srq);
	return 0;
}
