/* States of the stand-in's queue pairs: each step takes just the attributes that DOCA documents for it. */
#include "doca.h"

#include <string.h>

/* --- its states --- */

ATTRIBUTES(qp_attr)
#define SET_BIT(name, value, field, bit)                                                                               \
	EXPORT int doca_verbs_qp_attr_set_##name(struct doca_verbs_qp_attr *attr, value to)                            \
	{                                                                                                              \
		ENTER;                                                                                                 \
		attr->field = (__typeof__(attr->field))to;                                                             \
		attr->set |= 1 << (bit);                                                                               \
		return 0;                                                                                              \
	}
SET_BIT(allow_remote_write, int, remote_write, 0)
SET_BIT(allow_remote_read, int, remote_read, 1)
SET_BIT(pkey_index, uint16_t, verbs.pkey_index, 2)
SET_BIT(min_rnr_timer, uint16_t, verbs.min_rnr_timer, 3)
SET_BIT(port_num, uint16_t, verbs.port_num, 4)
SET_BIT(next_state, int, next_state, 5)
SET_BIT(path_mtu, int, mtu, 7)
SET_BIT(rq_psn, uint32_t, verbs.rq_psn, 8)
SET_BIT(sq_psn, uint32_t, verbs.sq_psn, 9)
SET_BIT(dest_qp_num, uint32_t, verbs.dest_qp_num, 10)
SET_BIT(ack_timeout, uint16_t, verbs.timeout, 11)
SET_BIT(retry_cnt, uint16_t, verbs.retry_cnt, 12)
SET_BIT(rnr_retry, uint16_t, verbs.rnr_retry, 13)
SET_BIT(ah_attr, struct doca_verbs_ah_attr *, ah, 14)
SET_BIT(atomic_mode, int, atomic_mode, 15)
SET_BIT(max_rd_atomic, uint8_t, verbs.max_rd_atomic, 16)
SET_BIT(max_dest_rd_atomic, uint8_t, verbs.max_dest_rd_atomic, 17)
SET_BIT(cc_group, struct doca_verbs_cc_group *, cc_group, 18)

/* What each step must have, of RC and of UC: bits of the mask as DOCA documents them; and what it may have. */
static const int needed[4][2] = {
	[1] = { 1 << 5 | 1 << 0 | 1 << 1 | 1 << 15 | 1 << 2 | 1 << 4, 1 << 5 | 1 << 0 | 1 << 2 | 1 << 4 },
	[2] = { 1 << 5 | 1 << 8 | 1 << 10 | 1 << 7 | 1 << 14 | 1 << 3 | 1 << 17,
		1 << 5 | 1 << 8 | 1 << 10 | 1 << 7 | 1 << 14 },
	[3] = { 1 << 5 | 1 << 9 | 1 << 11 | 1 << 12 | 1 << 13 | 1 << 16, 1 << 5 | 1 << 9 },
};
static const int allowed[4] = { [2] = 1 << 18 };

static bool path_is_right(const struct doca_verbs_ah_attr *ah, uint8_t port)
{
	static const uint8_t v4[12] = { [10] = 0xff, [11] = 0xff };
	bool mapped = memcmp(ah->path.grh.dgid.raw, v4, sizeof(v4)) == 0;
	struct ibv_port_attr attr;

	if (ibv_query_port(ah->verbs, port, &attr))
		return false;
	if (attr.link_layer == IBV_LINK_LAYER_ETHERNET)
		return ah->gid_set && ah->type == (mapped ? 0 : 1);
	return ah->type == (ah->gid_set ? 2 : 3);
}

static int mask_of(const struct doca_verbs_qp *qp, int state)
{
	static const int masks[4][2] = {
		[1] = { IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
			IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS },
		[2] = { IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				IBV_QP_MIN_RNR_TIMER | IBV_QP_MAX_DEST_RD_ATOMIC,
			IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN },
		[3] = { IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				IBV_QP_MAX_QP_RD_ATOMIC,
			IBV_QP_STATE | IBV_QP_SQ_PSN },
	};

	return masks[state][qp->type];
}

static bool step_is_right(const struct doca_verbs_qp *qp, const struct doca_verbs_qp_attr *attr, int mask)
{
	const int next = attr->next_state;
	int must;

	if (next != qp->state + 1 || next > 3 || attr->atomic_mode)
		return false;
	must = needed[next][qp->type];
	if (!has_atomic_mode)
		must &= ~(1 << 15);
	return (mask & must) == must && !(mask & ~(must | allowed[next])) && !(mask & ~attr->set);
}

EXPORT int doca_verbs_qp_modify(struct doca_verbs_qp *qp, struct doca_verbs_qp_attr *attr, int mask)
{
	const int next = attr->next_state;

	ENTER;
	if (!step_is_right(qp, attr, mask))
		return INVALID_VALUE;
	if (next == 2) {
		if (!path_is_right(attr->ah, 1))
			return INVALID_VALUE;
		attr->verbs.ah_attr = attr->ah->path;
		attr->verbs.ah_attr.port_num = 1;
		attr->verbs.path_mtu = (enum ibv_mtu)(attr->mtu + 1);
		if (mask & 1 << 18)
			joined(attr->cc_group->size);
	}
	attr->verbs.qp_state = (enum ibv_qp_state)next;
	attr->verbs.qp_access_flags = (attr->remote_write ? IBV_ACCESS_REMOTE_WRITE : 0) |
				      (attr->remote_read ? IBV_ACCESS_REMOTE_READ : 0) | IBV_ACCESS_LOCAL_WRITE;
	if (ibv_modify_qp(qp->verbs, &attr->verbs, mask_of(qp, next)))
		return DRIVER;
	qp->state = next;
	return 0;
}

/* --- its peer's address --- */

struct doca_verbs_gid {
	uint8_t raw[16];
};

EXPORT int doca_verbs_ah_attr_destroy(struct doca_verbs_ah_attr *ah)
{
	gone(ATTR, ah);
	return 0;
}

SET(ah_attr, addr_type, int, type)
SET(ah_attr, sgid_index, uint8_t, path.grh.sgid_index)
SET(ah_attr, hop_limit, uint8_t, path.grh.hop_limit)
SET(ah_attr, traffic_class, uint8_t, path.grh.traffic_class)
SET(ah_attr, sl, uint8_t, path.sl)

EXPORT int doca_verbs_ah_attr_set_dlid(struct doca_verbs_ah_attr *ah, uint32_t to)
{
	ENTER;
	ah->path.dlid = (uint16_t)to;
	return 0;
}

EXPORT int doca_verbs_ah_attr_set_gid(struct doca_verbs_ah_attr *ah, struct doca_verbs_gid gid)
{
	ENTER;
	memcpy(ah->path.grh.dgid.raw, gid.raw, sizeof(gid.raw));
	ah->path.is_global = 1;
	ah->gid_set = true;
	return 0;
}
