/* Stands in for ibv_modify_qp: a transition needs exactly the attributes that the InfiniBand specification names. */
#include "double.h"

#include <errno.h>
#include <string.h>

struct step {
	enum ibv_qp_state from, to;
	enum ibv_qp_type type;
	int needed, allowed;
};

#define PATH    (IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define RELY    (IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_SQ_PSN)
#define CHANGES (IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE)

static const struct step steps[] = {
	{ IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPT_RC, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0 },
	{ IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPT_UC, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0 },
	{ IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPT_UD, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, 0 },
	{ IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPT_XRC_SEND, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0 },
	{ IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPT_XRC_RECV, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0 },
	{ IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPT_DRIVER, IBV_QP_PKEY_INDEX | IBV_QP_PORT, 0 },
	{ IBV_QPS_RESET, IBV_QPS_INIT, QPT_DC_TARGET, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0 },
	{ IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPT_DRIVER, IBV_QP_PATH_MTU, IBV_QP_PKEY_INDEX | IBV_QP_AV },
	{ IBV_QPS_INIT, IBV_QPS_RTR, QPT_DC_TARGET, IBV_QP_MIN_RNR_TIMER | IBV_QP_AV | IBV_QP_PATH_MTU, 0 },
	{ IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPT_DRIVER, RELY, IBV_QP_MIN_RNR_TIMER },
	{ IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPT_XRC_SEND, PATH, CHANGES | IBV_QP_PKEY_INDEX },
	{ IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPT_XRC_RECV, PATH | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	  CHANGES | IBV_QP_PKEY_INDEX },
	{ IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPT_XRC_SEND, RELY, CHANGES | IBV_QP_CUR_STATE },
	{ IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPT_RC, PATH | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	  CHANGES | IBV_QP_PKEY_INDEX },
	{ IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPT_UC, PATH, CHANGES | IBV_QP_PKEY_INDEX },
	{ IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPT_UD, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY },
	{ IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPT_RC, RELY, CHANGES | IBV_QP_CUR_STATE | IBV_QP_MIN_RNR_TIMER },
	{ IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPT_UC, IBV_QP_SQ_PSN, CHANGES | IBV_QP_CUR_STATE },
	{ IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPT_UD, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY },
};

static int check_step(const struct fab_qp *qp, enum ibv_qp_state to, int mask)
{
	mask &= ~IBV_QP_STATE;
	if (to == IBV_QPS_ERR || to == IBV_QPS_RESET)
		return mask ? EINVAL : 0;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		const struct step *s = &steps[i];

		if (s->from == qp->state && s->to == to && s->type == qp->type)
			return (mask & s->needed) == s->needed && !(mask & ~(s->needed | s->allowed)) ? 0 : EINVAL;
	}
	return EINVAL;
}

static bool good_path(const struct ibv_ah_attr *av)
{
	if (av->port_num != 1 || av->sl > 15 || (!av->is_global && !config->infiniband))
		return false;
	return !av->is_global || (av->grh.sgid_index < config->gid_count && av->grh.hop_limit > 0);
}

static bool good_values(const struct ibv_qp_attr *a, int mask)
{
	bool bad = (mask & IBV_QP_PORT && a->port_num != 1) || (mask & IBV_QP_PKEY_INDEX && a->pkey_index) ||
		   (mask & IBV_QP_PATH_MTU && (a->path_mtu < IBV_MTU_256 || a->path_mtu > config->mtu));

	bad |= (mask & IBV_QP_DEST_QPN && a->dest_qp_num >> 24) || (mask & IBV_QP_RQ_PSN && a->rq_psn >> 24);
	bad |= mask & IBV_QP_SQ_PSN && a->sq_psn >> 24;
	return !bad;
}

static bool good_reliability(const struct ibv_qp_attr *a, int mask)
{
	bool bad = (mask & IBV_QP_MAX_DEST_RD_ATOMIC && a->max_dest_rd_atomic > config->max_rd_atomic) ||
		   (mask & IBV_QP_MAX_QP_RD_ATOMIC && a->max_rd_atomic > config->max_rd_atomic);

	bad |= (mask & IBV_QP_MIN_RNR_TIMER && a->min_rnr_timer > 31) || (mask & IBV_QP_TIMEOUT && a->timeout > 31);
	bad |= (mask & IBV_QP_RETRY_CNT && a->retry_cnt > 7) || (mask & IBV_QP_RNR_RETRY && a->rnr_retry > 7);
	return !bad;
}

static void take_path(struct fab_qp *qp, const struct ibv_qp_attr *a, int mask)
{
	struct ibv_qp_attr *own = &qp->attr;

	if (mask & IBV_QP_AV) {
		own->ah_attr = a->ah_attr;
		if (a->ah_attr.is_global)
			memcpy(qp->gid, config->gids[a->ah_attr.grh.sgid_index].gid.raw, sizeof(qp->gid));
	}
	if (mask & IBV_QP_PATH_MTU)
		own->path_mtu = a->path_mtu;
	if (mask & IBV_QP_DEST_QPN)
		own->dest_qp_num = a->dest_qp_num;
	if (mask & IBV_QP_RQ_PSN)
		own->rq_psn = a->rq_psn;
	if (mask & IBV_QP_SQ_PSN)
		own->sq_psn = a->sq_psn;
	if (mask & IBV_QP_QKEY)
		own->qkey = a->qkey;
	if (mask & IBV_QP_ACCESS_FLAGS)
		own->qp_access_flags = a->qp_access_flags;
	if (mask & IBV_QP_PORT)
		own->port_num = a->port_num;
}

static void take_reliability(struct ibv_qp_attr *own, const struct ibv_qp_attr *a, int mask)
{
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		own->max_dest_rd_atomic = a->max_dest_rd_atomic;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		own->max_rd_atomic = a->max_rd_atomic;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		own->min_rnr_timer = a->min_rnr_timer;
	if (mask & IBV_QP_TIMEOUT)
		own->timeout = a->timeout;
	if (mask & IBV_QP_RETRY_CNT)
		own->retry_cnt = a->retry_cnt;
	if (mask & IBV_QP_RNR_RETRY)
		own->rnr_retry = a->rnr_retry;
}

int ibv_modify_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int mask)
{
	int code = fails(CALL_ibv_modify_qp);
	struct fab_qp *qp = d_qp_of(base)->fab;

	if (code)
		return code;
	if (!(mask & IBV_QP_STATE) || !good_values(attr, mask) || !good_reliability(attr, mask) ||
	    (mask & IBV_QP_AV && !good_path(&attr->ah_attr)))
		return EINVAL;
	fabric_lock(&qp->lock);
	code = check_step(qp, attr->qp_state, mask);
	if (!code) {
		take_path(qp, attr, mask);
		take_reliability(&qp->attr, attr, mask);
		qp->state = base->state = attr->qp_state;
		if (qp->type == QPT_DC_TARGET && attr->qp_state == IBV_QPS_RTR)
			base->qp_num = qp->qpn;
		if (attr->qp_state == IBV_QPS_ERR)
			qp_fail(qp);
		if (attr->qp_state == IBV_QPS_RESET)
			qp->rq_tail = qp->rq_head;
	}
	fabric_unlock(&qp->lock);
	return code;
}
