/* Stands in for libibverbs' calls that make, describe and end queue pairs. */
#include "double.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct d_qp *local[FABRIC_QPS]; /* of this process, by the index in the fabric's table */

struct d_qp *qp_local(uint32_t qpn)
{
	struct d_qp *qp = __atomic_load_n(&local[qpn % FABRIC_QPS], __ATOMIC_ACQUIRE);

	return qp && qp->ex.qp_base.qp_num == qpn ? qp : NULL;
}

static bool fits(const struct ibv_qp_cap *cap)
{
	return cap->max_send_wr <= config->max_qp_wr && cap->max_recv_wr <= config->max_qp_wr &&
	       cap->max_inline_data <= config->inline_max && cap->max_send_sge <= SGE_MAX &&
	       cap->max_recv_sge <= SGE_MAX;
}

static bool offered(enum ibv_qp_type type)
{
	bool xrc = type == IBV_QPT_XRC_SEND || type == IBV_QPT_XRC_RECV;
	bool dc = type == IBV_QPT_DRIVER || type == QPT_DC_TARGET;

	return type == IBV_QPT_RC || type == IBV_QPT_UC || type == IBV_QPT_UD || (xrc && config->xrc) || dc;
}

static int check_init(const struct ibv_qp_init_attr_ex *init)
{
	if (!offered(init->qp_type))
		return EOPNOTSUPP;
	if (!(init->comp_mask & IBV_QP_INIT_ATTR_PD) || !init->send_cq || !init->recv_cq || init->srq)
		return EINVAL;
	if (count_of(COUNT_QP) >= config->max_qp)
		return ENOMEM;
	return fits(&init->cap) ? 0 : EINVAL;
}

static int alloc_queues(struct d_qp *qp)
{
	const struct ibv_qp_cap *cap = &qp->cap;

	qp->sq = calloc(cap->max_send_wr + 1, sizeof(*qp->sq));
	qp->inline_data = malloc((size_t)cap->max_send_wr * cap->max_inline_data + 1);
	qp->fab = qp->sq && qp->inline_data ? fabric_qp_new() : NULL;
	if (!qp->fab)
		return ENOMEM;
	qp->fab->rq_size = cap->max_recv_wr;
	qp->fab->rq = fabric_alloc((cap->max_recv_wr + 1) * sizeof(struct fab_recv));
	return qp->fab->rq ? 0 : ENOMEM;
}

static void release(struct d_qp *qp)
{
	if (qp->fab) {
		fabric_free(qp->fab->rq, (qp->cap.max_recv_wr + 1) * sizeof(struct fab_recv));
		qp->fab->rq = 0;
		qp->fab->qpn = 0;
		fabric_unlock(&qp->fab->lock);
	}
	free(qp->inline_data);
	free(qp->sq);
	free(qp);
}

static void use(struct d_qp *qp, int n)
{
	struct ibv_qp *base = &qp->ex.qp_base;

	d_pd_of(base->pd)->users += (unsigned)n;
	d_cq_of(base->send_cq)->users += (unsigned)n;
	d_cq_of(base->recv_cq)->users += (unsigned)n;
	count_add(COUNT_QP, n);
}

static void fill(struct d_qp *qp, struct ibv_context *context, const struct ibv_qp_init_attr_ex *init)
{
	struct ibv_qp *base = &qp->ex.qp_base;

	base->context = context;
	base->qp_context = init->qp_context;
	base->pd = init->pd;
	base->send_cq = init->send_cq;
	base->recv_cq = init->recv_cq;
	base->qp_num = qp->fab->qpn;
	base->handle = qp->fab->qpn;
	base->qp_type = init->qp_type;
	base->state = IBV_QPS_RESET;
	qp->sig_all = init->sq_sig_all;
	qp->ops = init->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	qp->send_ops = qp->ops ? init->send_ops_flags : 0;
	qp->fab->type = init->qp_type;
	qp->fab->pd = init->pd->handle;
	qp->fab->cq = fabric_offset(d_cq_of(init->recv_cq)->fab);
	pthread_mutex_init(&qp->lock, NULL);
	if (qp->ops)
		wr_setup(qp);
}

static uint32_t at_least_one(uint32_t n)
{
	return n ? n : 1;
}

struct ibv_qp *qp_create(struct ibv_context *context, struct ibv_qp_init_attr_ex *init)
{
	struct d_qp *qp;
	int code;

	xrc_complete_init(init);
	code = check_init(init);
	qp = code ? NULL : calloc(1, sizeof(*qp));
	if (!qp)
		return fails_pointer(code ? code : ENOMEM);
	qp->cap = init->cap;
	qp->cap.max_inline_data = config->inline_max;
	qp->cap.max_send_wr = at_least_one(qp->cap.max_send_wr);
	qp->cap.max_send_sge = at_least_one(qp->cap.max_send_sge);
	code = alloc_queues(qp);
	if (code) {
		release(qp);
		return fails_pointer(code);
	}
	init->cap = qp->cap;
	fill(qp, context, init);
	__atomic_store_n(&local[qp->fab->qpn % FABRIC_QPS], qp, __ATOMIC_RELEASE);
	fabric_unlock(&qp->fab->lock);
	use(qp, 1);
	return &qp->ex.qp_base;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	int code = fails(CALL_ibv_create_qp);
	struct ibv_qp_init_attr_ex ex = { .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd };
	struct ibv_qp *qp;

	if (code)
		return fails_pointer(code);
	memcpy(&ex, init, sizeof(*init)); /* the extended form begins with the plain one */
	ex.comp_mask = IBV_QP_INIT_ATTR_PD;
	qp = qp_create(pd->context, &ex);
	if (qp)
		init->cap = ex.cap;
	return qp;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	return d_qp_of(qp)->ops ? &d_qp_of(qp)->ex : NULL;
}

int qp_destroy(struct ibv_qp *base)
{
	struct d_qp *qp = d_qp_of(base);

	pump_remove(qp);
	__atomic_store_n(&local[qp->fab->qpn % FABRIC_QPS], NULL, __ATOMIC_RELEASE);
	use(qp, -1);
	fabric_lock(&qp->fab->lock);
	release(qp);
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *base)
{
	int code = fails_to_end(CALL_ibv_destroy_qp, base);

	return code ? code : qp_destroy(base);
}

/* What a DC target can be asked for, once it is ready. */
#define OF_TARGET                                                                                                      \
	(IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PORT | IBV_QP_MIN_RNR_TIMER | IBV_QP_AV | IBV_QP_PATH_MTU |       \
	 IBV_QP_PKEY_INDEX)

int ibv_query_qp(struct ibv_qp *base, struct ibv_qp_attr *ret, int mask, struct ibv_qp_init_attr *init)
{
	int code = fails(CALL_ibv_query_qp);
	struct d_qp *qp = d_qp_of(base);

	if (!code && qp->fab->type == QPT_DC_TARGET && (mask & ~OF_TARGET || qp->fab->state != IBV_QPS_RTR))
		code = EINVAL;
	if (code)
		return code;
	fabric_lock(&qp->fab->lock);
	*ret = qp->fab->attr;
	ret->qp_state = ret->cur_qp_state = qp->fab->state;
	fabric_unlock(&qp->fab->lock);
	ret->cap = qp->cap;
	*init = (struct ibv_qp_init_attr){
		.qp_context = base->qp_context,
		.send_cq = base->send_cq,
		.recv_cq = base->recv_cq,
		.cap = qp->cap,
		.qp_type = base->qp_type,
		.sq_sig_all = qp->sig_all,
	};
	return 0;
}

void qp_fail(struct fab_qp *qp)
{
	const struct fab_recv *rq = fabric_at(qp->rq);

	qp->state = IBV_QPS_ERR;
	for (; qp->rq_tail != qp->rq_head; qp->rq_tail++) {
		struct fab_cqe cqe = { .wc = { .status = IBV_WC_WR_FLUSH_ERR, .qp_num = qp->qpn } };

		cqe.wc.wr_id = rq[qp->rq_tail % qp->rq_size].wr_id;
		cq_push(fabric_at(qp->cq), &cqe);
	}
}
