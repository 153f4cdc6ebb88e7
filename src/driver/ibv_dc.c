/* Dynamically connected transport of mlx5 devices: a queue pair that sends to any target, and a target with its receives. */
#include "driver/ibv.h"

#include "spec/result.h"

#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <stdlib.h>
#include <string.h>

#define ACCESS_KEY 0x0fab0001u /* of all targets: keeps other programs' messages out */

struct ib_dc {
	__typeof__(mlx5dv_is_supported) *is_supported;
	__typeof__(mlx5dv_create_qp) *create;
	__typeof__(mlx5dv_qp_ex_from_ibv_qp_ex) *extend;
};

static bool find(const char *name, void *call)
{
	void *const found = ib_mlx5_find(name);

	memcpy(call, &found, sizeof(found));
	return found;
}

int ib_dc_open(struct ib_port *p, struct error *err)
{
	struct ib_dc *dc = calloc(1, sizeof(*dc));

	if (!dc)
		return error_set(err, -ENOMEM, "no memory for dynamically connected queue pairs");
	p->dc = dc;
	if (!find("mlx5dv_is_supported", &dc->is_supported) || !find("mlx5dv_create_qp", &dc->create) ||
	    !find("mlx5dv_qp_ex_from_ibv_qp_ex", &dc->extend))
		return error_set(err, -ENOSYS,
				 "-c DC needs libmlx5.so.1 with mlx5dv_create_qp, which this host lacks: install "
				 "ibverbs-providers or rdma-core");
	if (!dc->is_supported(p->context->device))
		return error_set(err, -EOPNOTSUPP,
				 "RDMA device %s has no DC, which only mlx5 devices have (NVIDIA ConnectX-4 and later, "
				 "BlueField): use -c RC",
				 p->name);
	return 0;
}

void ib_dc_close(struct ib_port *p)
{
	free(p->dc);
	p->dc = NULL;
}

struct ibv_qp *ib_dc_create(const struct ib_port *p, struct ibv_qp_init_attr_ex *init)
{
	struct mlx5dv_qp_init_attr own = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
		.dc_init_attr = { .dc_type = MLX5DV_DCTYPE_DCI },
	};

	return p->dc->create(p->context, init, &own);
}

/* A target takes messages of any sender that names its key; they find their receives in a queue of their own. */
static struct ibv_qp *create_target(const struct ib_port *p, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = p->cq,
		.recv_cq = p->cq,
		.srq = srq,
		.qp_type = IBV_QPT_DRIVER,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = p->pd,
	};
	struct mlx5dv_qp_init_attr own = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
		.dc_init_attr = { .dc_type = MLX5DV_DCTYPE_DCT, .dct_access_key = ACCESS_KEY },
	};

	errno = 0;
	return p->dc->create(p->context, &init, &own);
}

int ib_dc_ep_open(struct ib_ep *ep, struct error *err)
{
	struct ib_port *p = ib_ep_port(ep);
	struct ibv_srq_init_attr init = { .attr = { .max_wr = p->rx_depth, .max_sge = 1 } };

	errno = 0;
	ep->srq = ibv_create_srq(p->pd, &init);
	if (!ep->srq)
		return ib_fail(err, errno, "ibv_create_srq", "RDMA device %s refuses a receive queue of %u", p->name,
			       p->rx_depth);
	ep->target = create_target(p, ep->srq);
	if (!ep->target)
		return ib_fail(err, errno, "mlx5dv_create_qp", "RDMA device %s refuses a DC target", p->name);
	ep->dci = p->dc->extend(ep->qpx);
	return 0;
}

void ib_dc_emit(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	const struct ib_ep *ep = qpx->qp_base.qp_context;

	ep->emit_body(qpx, wr);
	mlx5dv_wr_set_dc_addr(ep->dci, ib_ep_port(ep)->ah, ep->peer.target_qpn, ACCESS_KEY);
}

void ib_dc_facts(const struct ib_ep *ep, struct facts *ret)
{
	facts_add_number(ret, "dcTargetNumber", "First DC target", ep->own.target_qpn);
	facts_add_number(ret, "peerDcTargetNumber", "Peer's first DC target", ep->peer.target_qpn);
}
