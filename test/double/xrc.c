/* Stands in for extended reliable connections: domains, and what their queue pairs have of them. */
#include "double.h"

#include <errno.h>
#include <stdlib.h>

/* Receiving queue pairs have no domain and no completion queue of their own: they use the domain's. */
struct d_xrcd {
	struct ibv_xrcd xrcd;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
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
		return fails_busy(xrcd);
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
