/* Stands in for mlx5's dynamically connected transport: senders that name a target with each message, and targets. */
#include "double.h"

#include <errno.h>

/* For the stand-in libmlx5 (mlx5/libmlx5.c). */
#pragma GCC visibility push(default)

bool double_is_supported(struct ibv_device *device);
struct ibv_qp *double_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *init,
				struct mlx5dv_qp_init_attr *own);
struct mlx5dv_qp_ex *double_qp_ex(struct ibv_qp_ex *qp);

#pragma GCC visibility pop

bool double_is_supported(struct ibv_device *device)
{
	(void)device;
	return config->mlx5;
}

static void set_dc_addr(struct mlx5dv_qp_ex *own, struct ibv_ah *ah, uint32_t target, uint64_t key)
{
	struct d_qp *qp = (struct d_qp *)((char *)own - offsetof(struct d_qp, dci));
	struct d_wr *wr = wr_current(qp);

	if (!wr)
		return;
	wr->ah = (struct d_ah *)ah;
	wr->target = target;
	wr->access_key = key;
}

struct mlx5dv_qp_ex *double_qp_ex(struct ibv_qp_ex *qp)
{
	return &d_qp_of(&qp->qp_base)->dci;
}

/* It never receives. */
static struct ibv_qp *create_initiator(struct ibv_context *context, struct ibv_qp_init_attr_ex *init)
{
	struct ibv_qp *qp;

	if (init->cap.max_recv_wr || init->cap.max_recv_sge || init->srq)
		return fails_pointer(EINVAL);
	qp = qp_create(context, init);
	if (qp)
		d_qp_of(qp)->dci.wr_set_dc_addr = set_dc_addr;
	return qp;
}

/* It never sends; what it receives goes to its receive queue, and completes where it says. Its number comes with RTR. */
static struct ibv_qp *create_target(struct ibv_context *context, const struct ibv_qp_init_attr_ex *asked, uint64_t key)
{
	struct ibv_qp_init_attr_ex init = *asked;
	struct ibv_qp *qp;

	if (!asked->srq || !asked->recv_cq || asked->comp_mask != IBV_QP_INIT_ATTR_PD)
		return fails_pointer(EINVAL);
	init.srq = NULL;
	init.qp_type = QPT_DC_TARGET;
	qp = qp_create(context, &init);
	if (!qp)
		return NULL;
	qp->qp_type = IBV_QPT_DRIVER;
	qp->qp_num = 0;
	qp->srq = asked->srq;
	d_qp_of(qp)->fab->access_key = key;
	d_qp_of(qp)->fab->srqn = srq_serve(asked->srq, asked->recv_cq);
	return qp;
}

struct ibv_qp *double_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *init,
				struct mlx5dv_qp_init_attr *own)
{
	int code = fails(CALL_mlx5dv_create_qp);

	if (!code && (!config->mlx5 || !config->dc))
		code = EOPNOTSUPP;
	if (!code && (init->qp_type != IBV_QPT_DRIVER || own->comp_mask != MLX5DV_QP_INIT_ATTR_MASK_DC))
		code = EINVAL;
	if (code)
		return fails_pointer(code);
	if (own->dc_init_attr.dc_type == MLX5DV_DCTYPE_DCT)
		return create_target(context, init, own->dc_init_attr.dct_access_key);
	return create_initiator(context, init);
}
