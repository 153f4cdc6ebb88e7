/* Queue pairs of DOCA's, made and brought to RTS by what libibverbs would be told. */
#include "driver/dv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static inline struct dv_qp *dv_qp_of(struct ibv_qp *qp)
{
	return (struct dv_qp *)qp;
}

static int set_up(struct dv_port *p, const struct ibv_qp_init_attr_ex *init, struct doca_verbs_qp_init_attr *attr)
{
	const uint32_t type = init->qp_type == IBV_QPT_UC ? DOCA_QP_UC : DOCA_QP_RC;
	int rc = DOCA(p, verbs_qp_init_attr_set_pd, attr, p->pd);

	DOCA_STEP(rc, p, verbs_qp_init_attr_set_external_datapath_en, attr, 0);
	DOCA_STEP(rc, p, verbs_qp_init_attr_set_qp_type, attr, type);
	DOCA_STEP(rc, p, verbs_qp_init_attr_set_max_inline_data, attr, init->cap.max_inline_data);
	DOCA_STEP(rc, p, verbs_qp_init_attr_set_sq_sig_all, attr, init->sq_sig_all);
	DOCA_STEP(rc, p, verbs_qp_init_attr_set_send_cq, attr, p->cq);
	DOCA_STEP(rc, p, verbs_qp_init_attr_set_sq_wr, attr, init->cap.max_send_wr);
	DOCA_STEP(rc, p, verbs_qp_init_attr_set_send_max_sges, attr, init->cap.max_send_sge);
	DOCA_STEP(rc, p, verbs_qp_init_attr_set_receive_cq, attr, p->cq);
	DOCA_STEP(rc, p, verbs_qp_init_attr_set_rq_wr, attr, init->cap.max_recv_wr);
	DOCA_STEP(rc, p, verbs_qp_init_attr_set_receive_max_sges, attr, init->cap.max_recv_sge);
	return rc;
}

static int create(struct dv_port *p, const struct ibv_qp_init_attr_ex *init, struct dv_qp *ret)
{
	struct doca_verbs_qp_init_attr *attr = NULL;
	int rc = DOCA(p, verbs_qp_init_attr_create, &attr);

	if (rc)
		return rc;
	rc = set_up(p, init, attr);
	DOCA_STEP(rc, p, verbs_qp_create, p->context, attr, &ret->handle);
	p->call.verbs_qp_init_attr_destroy(attr);
	return rc;
}

struct ibv_qp *dv_qp_create(struct ib_port *port, struct ibv_qp_init_attr_ex *init)
{
	struct dv_port *p = dv_port_of(port);
	struct dv_qp *qp;
	int rc;

	if (init->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) { /* for ibv_wr_* */
		errno = EOPNOTSUPP;
		return NULL;
	}
	qp = calloc(1, sizeof(*qp));
	rc = qp ? create(p, init, qp) : ENOMEM;
	if (rc) {
		free(qp);
		errno = rc;
		return NULL;
	}
	qp->port = p;
	qp->qp.context = &p->path;
	qp->qp.qp_type = init->qp_type;
	qp->qp.qp_num = p->call.verbs_qp_get_qpn(qp->handle);
	return &qp->qp;
}

int dv_qp_destroy(struct ib_port *port, struct ibv_qp *qp)
{
	struct dv_port *p = dv_port_of(port);
	int rc = DOCA(p, verbs_qp_destroy, dv_qp_of(qp)->handle);

	free(dv_qp_of(qp));
	return rc;
}

/* IPv4 or IPv6 of RoCE; InfiniBand with or without a global routing header. */
static enum doca_addr_type addr_type(const struct dv_port *p, const struct ibv_ah_attr *path)
{
	if (p->ib.attr.link_layer == IBV_LINK_LAYER_ETHERNET)
		return ib_gid_is_ipv4(path->grh.dgid.raw) ? DOCA_ADDR_IPV4 : DOCA_ADDR_IPV6;
	return path->is_global ? DOCA_ADDR_IB_GRH : DOCA_ADDR_IB_NO_GRH;
}

static int set_address(struct dv_port *p, const struct ibv_ah_attr *path, struct doca_verbs_ah_attr *ah)
{
	int rc = DOCA(p, verbs_ah_attr_set_addr_type, ah, addr_type(p, path));
	struct doca_verbs_gid gid;

	memcpy(gid.raw, path->grh.dgid.raw, sizeof(gid.raw));
	DOCA_STEP(rc, p, verbs_ah_attr_set_sl, ah, path->sl);
	if (p->ib.attr.link_layer != IBV_LINK_LAYER_ETHERNET)
		DOCA_STEP(rc, p, verbs_ah_attr_set_dlid, ah, path->dlid);
	if (!path->is_global)
		return rc;
	DOCA_STEP(rc, p, verbs_ah_attr_set_gid, ah, gid);
	DOCA_STEP(rc, p, verbs_ah_attr_set_sgid_index, ah, path->grh.sgid_index);
	DOCA_STEP(rc, p, verbs_ah_attr_set_hop_limit, ah, path->grh.hop_limit);
	DOCA_STEP(rc, p, verbs_ah_attr_set_traffic_class, ah, path->grh.traffic_class);
	return rc;
}

/* Attributes of a state on their way: what is set goes into the mask. */
struct change {
	struct dv_port *p;
	struct doca_verbs_qp_attr *attr;
	struct doca_verbs_ah_attr *ah;
	int asked, mask, rc;
};

/* Sets one that verbs' mask asks for. */
#define TAKE(c, verbs, doca, name, value)                                                                              \
	do {                                                                                                           \
		if ((c)->asked & (verbs)) {                                                                            \
			DOCA_STEP((c)->rc, (c)->p, verbs_qp_attr_set_##name, (c)->attr, value);                        \
			(c)->mask |= (doca);                                                                           \
		}                                                                                                      \
	} while (0)

static void take_rights(struct change *c, const struct ibv_qp_attr *attr)
{
	const unsigned rights = attr->qp_access_flags;

	TAKE(c, IBV_QP_ACCESS_FLAGS, DOCA_QP_REMOTE_WRITE, allow_remote_write, !!(rights & IBV_ACCESS_REMOTE_WRITE));
	if (c->p->ib.spec->transport != TRANSPORT_RC)
		return;
	TAKE(c, IBV_QP_ACCESS_FLAGS, DOCA_QP_REMOTE_READ, allow_remote_read, !!(rights & IBV_ACCESS_REMOTE_READ));
	if (c->p->call.verbs_qp_attr_set_atomic_mode)
		TAKE(c, IBV_QP_ACCESS_FLAGS, DOCA_QP_ATOMIC_MODE, atomic_mode, DOCA_ATOMIC_NONE); /* bridge has none */
}

static void take_path(struct change *c, const struct ibv_qp_attr *attr)
{
	if (!(c->asked & IBV_QP_AV))
		return;
	DOCA_STEP(c->rc, c->p, verbs_ah_attr_create, c->p->context, &c->ah);
	if (!c->rc)
		c->rc = set_address(c->p, &attr->ah_attr, c->ah);
	TAKE(c, IBV_QP_AV, DOCA_QP_AH_ATTR, ah_attr, c->ah);
	if (c->p->cc_group) /* joined on the way to RTR */
		TAKE(c, IBV_QP_AV, DOCA_QP_CC_GROUP, cc_group, c->p->cc_group);
}

static void take(struct change *c, const struct ibv_qp_attr *attr)
{
	TAKE(c, IBV_QP_STATE, DOCA_QP_NEXT_STATE, next_state, (enum doca_qp_state)attr->qp_state); /* same numbers */
	TAKE(c, IBV_QP_PKEY_INDEX, DOCA_QP_PKEY_INDEX, pkey_index, attr->pkey_index);
	TAKE(c, IBV_QP_PORT, DOCA_QP_PORT_NUM, port_num, attr->port_num);
	take_rights(c, attr);
	TAKE(c, IBV_QP_RQ_PSN, DOCA_QP_RQ_PSN, rq_psn, attr->rq_psn);
	TAKE(c, IBV_QP_DEST_QPN, DOCA_QP_DEST_QP_NUM, dest_qp_num, attr->dest_qp_num);
	TAKE(c, IBV_QP_PATH_MTU, DOCA_QP_PATH_MTU, path_mtu, (enum doca_mtu)(attr->path_mtu - IBV_MTU_256));
	take_path(c, attr);
	TAKE(c, IBV_QP_MIN_RNR_TIMER, DOCA_QP_MIN_RNR_TIMER, min_rnr_timer, attr->min_rnr_timer);
	TAKE(c, IBV_QP_MAX_DEST_RD_ATOMIC, DOCA_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic, attr->max_dest_rd_atomic);
	TAKE(c, IBV_QP_SQ_PSN, DOCA_QP_SQ_PSN, sq_psn, attr->sq_psn);
	TAKE(c, IBV_QP_TIMEOUT, DOCA_QP_ACK_TIMEOUT, ack_timeout, attr->timeout);
	TAKE(c, IBV_QP_RETRY_CNT, DOCA_QP_RETRY_CNT, retry_cnt, attr->retry_cnt);
	TAKE(c, IBV_QP_RNR_RETRY, DOCA_QP_RNR_RETRY, rnr_retry, attr->rnr_retry);
	TAKE(c, IBV_QP_MAX_QP_RD_ATOMIC, DOCA_QP_MAX_RD_ATOMIC, max_rd_atomic, attr->max_rd_atomic);
}

/* What the report shows of a queue pair: each attribute is told in one state only. */
static void remember(struct ibv_qp_attr *used, const struct ibv_qp_attr *attr, int mask)
{
	if (mask & IBV_QP_AV) {
		used->ah_attr = attr->ah_attr;
		used->path_mtu = attr->path_mtu;
		used->min_rnr_timer = attr->min_rnr_timer;
	}
	if (mask & IBV_QP_TIMEOUT) {
		used->timeout = attr->timeout;
		used->retry_cnt = attr->retry_cnt;
		used->rnr_retry = attr->rnr_retry;
		used->max_rd_atomic = attr->max_rd_atomic;
	}
}

int dv_qp_modify(struct ib_ep *ep, struct ibv_qp_attr *attr, int mask)
{
	struct dv_port *p = dv_port_of(ib_ep_port(ep));
	struct dv_qp *qp = dv_qp_of(ep->qp);
	struct change c = { .p = p, .asked = mask };

	c.rc = DOCA(p, verbs_qp_attr_create, &c.attr);
	if (c.rc)
		return c.rc;
	take(&c, attr);
	DOCA_STEP(c.rc, p, verbs_qp_modify, qp->handle, c.attr, c.mask);
	p->call.verbs_qp_attr_destroy(c.attr);
	if (c.ah)
		p->call.verbs_ah_attr_destroy(c.ah);
	if (!c.rc)
		remember(&qp->used, attr, mask);
	return c.rc;
}

int dv_qp_query(const struct ib_ep *ep, struct ibv_qp_attr *ret, int mask)
{
	(void)mask;
	*ret = dv_qp_of(ep->qp)->used;
	return 0;
}
