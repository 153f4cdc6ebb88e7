/* Stands in for DOCA's verbs library on the stand-in device: contexts, queues, queue pairs, groups, and verbs' work requests. */
#include "doca.h"

#include <errno.h>
#include <string.h>

const bool has_atomic_mode = true;

/* --- context, protection domain, completion queue --- */

EXPORT int doca_verbs_bridge_verbs_context_create(struct ibv_device *device, uint32_t flags,
						  struct doca_verbs_context **ret)
{
	struct ibv_context *verbs;

	ENTER;
	verbs = flags ? NULL : ibv_open_device(device);
	if (!verbs)
		return INVALID_VALUE;
	*ret = made(CONTEXT, sizeof(**ret));
	(*ret)->verbs = verbs;
	return 0;
}

EXPORT struct ibv_context *doca_verbs_bridge_get_ibv_ctx(struct doca_verbs_context *context)
{
	return planted(__func__) ? NULL : context->verbs;
}

EXPORT int doca_verbs_context_destroy(struct doca_verbs_context *context)
{
	int rc = ibv_close_device(context->verbs) ? DRIVER : 0;

	gone(CONTEXT, context);
	ENTER;
	return rc;
}

EXPORT int doca_verbs_pd_create(struct doca_verbs_context *context, struct doca_verbs_pd **ret)
{
	struct ibv_pd *verbs;

	ENTER;
	verbs = ibv_alloc_pd(context->verbs);
	if (!verbs)
		return NO_MEMORY;
	*ret = made(PD, sizeof(**ret));
	(*ret)->verbs = verbs;
	return 0;
}

EXPORT struct ibv_pd *doca_verbs_bridge_verbs_pd_get_ibv_pd(const struct doca_verbs_pd *pd)
{
	return planted(__func__) ? NULL : pd->verbs;
}

EXPORT int doca_verbs_pd_destroy(struct doca_verbs_pd *pd)
{
	int rc = ibv_dealloc_pd(pd->verbs) ? DRIVER : 0;

	gone(PD, pd);
	ENTER;
	return rc;
}

ATTRIBUTES(cq_attr)
SET(cq_attr, cq_size, uint32_t, size)
SET(cq_attr, entry_size, int, entry)
SET(cq_attr, external_datapath_en, uint8_t, external)

EXPORT int doca_verbs_cq_create(struct doca_verbs_context *context, struct doca_verbs_cq_attr *attr,
				struct doca_verbs_cq **ret)
{
	struct ibv_cq *verbs;

	ENTER;
	if (attr->external || attr->entry)
		return INVALID_VALUE;
	verbs = ibv_create_cq(context->verbs, (int)attr->size, NULL, NULL, 0);
	if (!verbs)
		return INVALID_VALUE;
	*ret = made(CQ, sizeof(**ret));
	(*ret)->verbs = verbs;
	return 0;
}

EXPORT int doca_verbs_cq_destroy(struct doca_verbs_cq *cq)
{
	int rc = ibv_destroy_cq(cq->verbs) ? DRIVER : 0;

	gone(CQ, cq);
	ENTER;
	return rc;
}

/* --- queue pair --- */

ATTRIBUTES(qp_init_attr)
SET(qp_init_attr, pd, struct doca_verbs_pd *, pd)
SET(qp_init_attr, external_datapath_en, uint8_t, external)
SET(qp_init_attr, max_inline_data, uint32_t, inline_data)
SET(qp_init_attr, qp_type, uint32_t, type)
SET(qp_init_attr, send_cq, struct doca_verbs_cq *, send_cq)
SET(qp_init_attr, sq_wr, uint32_t, sq_wr)
SET(qp_init_attr, send_max_sges, uint32_t, send_sges)
SET(qp_init_attr, sq_sig_all, int, signal_all)
SET(qp_init_attr, receive_cq, struct doca_verbs_cq *, receive_cq)
SET(qp_init_attr, rq_wr, uint32_t, rq_wr)
SET(qp_init_attr, receive_max_sges, uint32_t, receive_sges)

EXPORT int doca_verbs_qp_create(struct doca_verbs_context *context, struct doca_verbs_qp_init_attr *attr,
				struct doca_verbs_qp **ret)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp *verbs;

	ENTER;
	if (!attr->pd || !attr->send_cq || !attr->receive_cq || attr->external || attr->type > 1 ||
	    attr->pd->verbs->context != context->verbs)
		return INVALID_VALUE;
	init = (struct ibv_qp_init_attr){
		.send_cq = attr->send_cq->verbs,
		.recv_cq = attr->receive_cq->verbs,
		.cap = { attr->sq_wr, attr->rq_wr, attr->send_sges, attr->receive_sges, attr->inline_data },
		.qp_type = attr->type ? IBV_QPT_UC : IBV_QPT_RC,
		.sq_sig_all = attr->signal_all,
	};
	verbs = ibv_create_qp(attr->pd->verbs, &init);
	if (!verbs)
		return errno == ENOMEM ? NO_MEMORY : INVALID_VALUE;
	*ret = made(QP, sizeof(**ret));
	(*ret)->verbs = verbs;
	(*ret)->type = attr->type;
	return 0;
}

EXPORT uint32_t doca_verbs_qp_get_qpn(const struct doca_verbs_qp *qp)
{
	return qp->verbs->qp_num;
}

EXPORT int doca_verbs_qp_destroy(struct doca_verbs_qp *qp)
{
	int rc = ibv_destroy_qp(qp->verbs) ? DRIVER : 0;

	gone(QP, qp);
	ENTER;
	return rc;
}

EXPORT int doca_verbs_ah_attr_create(struct doca_verbs_context *context, struct doca_verbs_ah_attr **ret)
{
	ENTER;
	*ret = made(ATTR, sizeof(**ret));
	(*ret)->verbs = context->verbs;
	return 0;
}

/* --- congestion control groups --- */

struct doca_verbs_cc_group_caps {
	uint32_t vendor, format;
};

struct doca_verbs_cc_group_attr {
	struct doca_verbs_cc_group group;
};

EXPORT int doca_verbs_query_cc_group_caps(struct doca_verbs_context *context, struct doca_verbs_cc_group_caps **ret)
{
	(void)context;
	ENTER;
	if (word("no_cc", 0))
		return NOT_SUPPORTED;
	*ret = made(ATTR, sizeof(**ret));
	**ret = (struct doca_verbs_cc_group_caps){ word("vendor", 1), word("format", 1) };
	return 0;
}

EXPORT uint32_t doca_verbs_cc_group_caps_get_vendor_id(const struct doca_verbs_cc_group_caps *caps)
{
	return caps->vendor;
}

EXPORT uint32_t doca_verbs_cc_group_caps_get_format_id(const struct doca_verbs_cc_group_caps *caps)
{
	return caps->format;
}

EXPORT int doca_verbs_cc_group_caps_free(struct doca_verbs_cc_group_caps *caps)
{
	gone(ATTR, caps);
	return 0;
}

ATTRIBUTES(cc_group_attr)

EXPORT int doca_verbs_cc_group_attr_set_hint(struct doca_verbs_cc_group_attr *attr, const void *data, size_t size)
{
	ENTER;
	if (size > word("hint_most", sizeof(attr->group.hint)))
		return INVALID_VALUE;
	memcpy(attr->group.hint, data, size);
	attr->group.size = size;
	return 0;
}

EXPORT int doca_verbs_cc_group_create(struct doca_verbs_context *context, struct doca_verbs_cc_group_attr *attr,
				      struct doca_verbs_cc_group **ret)
{
	(void)context;
	ENTER;
	*ret = made(CC_GROUP, sizeof(**ret));
	**ret = attr->group;
	return 0;
}

EXPORT int doca_verbs_cc_group_destroy(struct doca_verbs_cc_group *group)
{
	gone(CC_GROUP, group);
	ENTER;
	return 0;
}

/* --- the data path: verbs' own work requests, of the kinds that the bridge knows --- */

EXPORT int doca_verbs_bridge_post_send(struct doca_verbs_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	int n = 0;

	*bad = wr;
	ENTER;
	for (struct ibv_send_wr *one = wr; one; one = one->next, n++)
		if (one->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || one->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
			return EINVAL;
	counted("send", n);
	return ibv_post_send(qp->verbs, wr, bad);
}

EXPORT int doca_verbs_bridge_post_recv(struct doca_verbs_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int n = 0;

	*bad = wr;
	ENTER;
	for (struct ibv_recv_wr *one = wr; one; one = one->next)
		n++;
	counted("recv", n);
	return ibv_post_recv(qp->verbs, wr, bad);
}

EXPORT int doca_verbs_bridge_poll_cq(struct doca_verbs_cq *cq, int most, struct ibv_wc *ret)
{
	int n;

	ENTER;
	n = ibv_poll_cq(cq->verbs, most, ret);
	counted("poll", n > 0 ? n : 0);
	return n;
}
