/* Stands in for extended reliable connections: domains, and receive queues that any receiving queue pair may fill. */
#include "double.h"

#include <errno.h>
#include <stdlib.h>

/* Receiving queue pairs have no domain and no completion queue of their own: they use the domain's. */
struct d_xrcd {
	struct ibv_xrcd xrcd;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
};

/* A receive queue is a queue pair that never sends; its number is that queue pair's. */
struct d_srq {
	struct ibv_srq srq;
	struct ibv_qp *queue;
};

struct ibv_xrcd *xrcd_open(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	int code = fails(CALL_ibv_open_xrcd);
	struct d_xrcd *xrcd;

	if (!code && (!config->xrc || attr->comp_mask != (IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS)))
		code = config->xrc ? EINVAL : EOPNOTSUPP;
	xrcd = code ? NULL : calloc(1, sizeof(*xrcd));
	if (!xrcd)
		return fails_pointer(code ? code : ENOMEM);
	xrcd->xrcd.context = context;
	fails_not(true);
	xrcd->pd = ibv_alloc_pd(context);
	xrcd->cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	fails_not(false);
	count_add(COUNT_XRCD, 1);
	return &xrcd->xrcd;
}

int xrcd_close(struct ibv_xrcd *base)
{
	int code = fails_to_end(CALL_ibv_close_xrcd, base);
	struct d_xrcd *xrcd = (struct d_xrcd *)base;

	if (code)
		return code;
	if (d_pd_of(xrcd->pd)->users)
		return EBUSY;
	fails_not(true);
	ibv_destroy_cq(xrcd->cq);
	ibv_dealloc_pd(xrcd->pd);
	fails_not(false);
	free(xrcd);
	count_add(COUNT_XRCD, -1);
	return 0;
}

void xrc_complete_init(struct ibv_qp_init_attr_ex *init)
{
	const struct d_xrcd *xrcd = (const struct d_xrcd *)init->xrcd;

	if (init->qp_type == IBV_QPT_XRC_SEND)
		init->recv_cq = init->send_cq;
	if (init->qp_type != IBV_QPT_XRC_RECV || !(init->comp_mask & IBV_QP_INIT_ATTR_XRCD))
		return;
	init->comp_mask |= IBV_QP_INIT_ATTR_PD;
	init->pd = xrcd->pd;
	init->send_cq = init->recv_cq = xrcd->cq;
}

struct ibv_srq *srq_create(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = attr->cq,
		.recv_cq = attr->cq,
		.cap = { .max_recv_wr = attr->attr.max_wr, .max_recv_sge = attr->attr.max_sge },
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = attr->pd,
	};
	int code = fails(CALL_ibv_create_srq_ex);
	struct d_srq *srq;

	if (!code && (attr->srq_type != IBV_SRQT_XRC || !attr->xrcd))
		code = EOPNOTSUPP;
	srq = code ? NULL : calloc(1, sizeof(*srq));
	if (!srq)
		return fails_pointer(code ? code : ENOMEM);
	srq->queue = qp_create(context, &init);
	if (!srq->queue) {
		free(srq);
		return NULL;
	}
	d_qp_of(srq->queue)->fab->state = IBV_QPS_RTR;
	srq->srq.context = context;
	srq->srq.pd = attr->pd;
	return &srq->srq;
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

	if (code)
		return code;
	qp_destroy(((struct d_srq *)base)->queue);
	free(base);
	return 0;
}
