/* Extended reliable connections: a queue pair that sends, one that receives, and a shared receive queue for an endpoint. */
#include "driver/ibv.h"

#include <errno.h>
#include <fcntl.h>

int ib_xrc_open(struct ib_port *p, struct error *err)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};

	if (!(p->dev.device_cap_flags & IBV_DEVICE_XRC))
		return error_set(err, -EOPNOTSUPP, "RDMA device %s has no XRC (device_cap_flags): use -c RC", p->name);
	errno = 0;
	p->xrcd = ibv_open_xrcd(p->context, &attr);
	if (!p->xrcd)
		return ib_fail(err, errno, "ibv_open_xrcd", "RDMA device %s refuses an XRC domain", p->name);
	return 0;
}

void ib_xrc_close(struct ib_port *p)
{
	if (p->xrcd)
		ib_kept(p, ibv_close_xrcd(p->xrcd), "ibv_close_xrcd", "an XRC domain");
	p->xrcd = NULL;
}

static struct ibv_srq *create_srq(const struct ib_port *p)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = p->rx_depth, .max_sge = 1 },
		.comp_mask =
			IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = p->pd,
		.xrcd = p->xrcd,
		.cq = p->cq,
	};

	errno = 0;
	return ibv_create_srq_ex(p->context, &init);
}

static struct ibv_qp *create_target(const struct ib_port *p)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = p->xrcd,
	};

	errno = 0;
	return ibv_create_qp_ex(p->context, &init);
}

int ib_xrc_ep_open(struct ib_ep *ep, struct error *err)
{
	struct ib_port *p = ib_ep_port(ep);

	ep->srq = create_srq(p);
	if (!ep->srq)
		return ib_fail(err, errno, "ibv_create_srq_ex", "RDMA device %s refuses an XRC receive queue of %u",
			       p->name, p->rx_depth);
	ep->target = create_target(p);
	if (!ep->target)
		return ib_fail(err, errno, "ibv_create_qp_ex", "RDMA device %s refuses a receiving XRC queue pair",
			       p->name);
	return 0;
}
