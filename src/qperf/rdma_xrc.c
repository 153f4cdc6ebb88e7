/* What an XRC test has beside the queue pair that sends: a domain, a queue pair that receives, and its receive queue. */
#include "qperf/rdma.h"

#include <errno.h>
#include <fcntl.h>

static int open_domain(struct qperf_rdma *r, struct error *err)
{
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};

	if (!(r->dev.device_cap_flags & IBV_DEVICE_XRC))
		return error_set(err, -EOPNOTSUPP, "RDMA device %s has no XRC (device_cap_flags)",
				 ibv_get_device_name(r->context->device));
	r->xrcd = ibv_open_xrcd(r->context, &init);
	return r->xrcd ? 0 : qperf_rdma_fail(err, errno, "ibv_open_xrcd");
}

static int make_receiver(struct qperf_rdma *r, struct error *err)
{
	struct ibv_srq_init_attr_ex queue = {
		.attr = { .max_wr = r->rx_depth, .max_sge = 1 },
		.comp_mask =
			IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = r->pd,
		.xrcd = r->xrcd,
		.cq = r->cq,
	};
	struct ibv_qp_init_attr_ex target = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = r->xrcd,
	};

	r->srq = ibv_create_srq_ex(r->context, &queue);
	if (!r->srq || ibv_get_srq_num(r->srq, &r->srqn))
		return qperf_rdma_fail(err, errno, "ibv_create_srq_ex");
	r->target = ibv_create_qp_ex(r->context, &target);
	return r->target ? 0 : qperf_rdma_fail(err, errno, "ibv_create_qp_ex");
}

int qperf_xrc_make(struct qperf_rdma *r, struct error *err)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = r->cq,
		.cap = { .max_send_wr = r->tx_depth, .max_send_sge = 1 },
		.qp_type = IBV_QPT_XRC_SEND,
		.sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = r->pd,
	};
	int rc = open_domain(r, err);

	if (rc == 0)
		rc = make_receiver(r, err);
	if (rc)
		return rc;
	r->qp = ibv_create_qp_ex(r->context, &init);
	r->inline_max = init.cap.max_inline_data;
	return r->qp ? 0 : qperf_rdma_fail(err, errno, "ibv_create_qp_ex");
}

void qperf_xrc_close(struct qperf_rdma *r)
{
	if (r->target)
		ibv_destroy_qp(r->target);
	if (r->srq)
		ibv_destroy_srq(r->srq);
	if (r->xrcd)
		ibv_close_xrcd(r->xrcd);
}
