/* Joins the queue pairs of an RDMA test by what the ends told each other: INIT, RTR, RTS. */
#include "qperf/rdma.h"

#include "driver/ibv.h"

#include <errno.h>
#include <string.h>

#define QKEY      0x11111111u
#define HOPS      64
#define TIMEOUT   14
#define RETRIES   7
#define RNR_TIMER 12

static int path_mtu(const struct qperf_rdma *r, enum ibv_mtu *ret, struct error *err)
{
	const uint32_t asked = r->run->params.mtu_size;

	for (enum ibv_mtu mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++) {
		if (ib_mtu_bytes(mtu) != asked)
			continue;
		*ret = mtu < r->attr.active_mtu ? mtu : r->attr.active_mtu;
		return 0;
	}
	return error_set(err, -EINVAL, "bad MTU: %u; must be 256/512/1K/2K/4K", asked);
}

static const struct {
	const char *name;
	uint8_t rate;
} rates[] = {
	{ "", IBV_RATE_MAX },          { "max", IBV_RATE_MAX },       { "2.5", IBV_RATE_2_5_GBPS },
	{ "5", IBV_RATE_5_GBPS },      { "10", IBV_RATE_10_GBPS },    { "20", IBV_RATE_20_GBPS },
	{ "30", IBV_RATE_30_GBPS },    { "40", IBV_RATE_40_GBPS },    { "60", IBV_RATE_60_GBPS },
	{ "80", IBV_RATE_80_GBPS },    { "120", IBV_RATE_120_GBPS },  { "1xSDR", IBV_RATE_2_5_GBPS },
	{ "1xDDR", IBV_RATE_5_GBPS },  { "1xQDR", IBV_RATE_10_GBPS }, { "4xSDR", IBV_RATE_10_GBPS },
	{ "4xDDR", IBV_RATE_20_GBPS }, { "4xQDR", IBV_RATE_40_GBPS }, { "8xSDR", IBV_RATE_20_GBPS },
	{ "8xDDR", IBV_RATE_40_GBPS }, { "8xQDR", IBV_RATE_80_GBPS },
};

static int static_rate(const struct qperf_rdma *r, uint8_t *ret, struct error *err)
{
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		if (strcmp(rates[i].name, r->run->params.static_rate))
			continue;
		*ret = rates[i].rate;
		return 0;
	}
	return error_set(err, -EINVAL, "bad static rate: %.30s", r->run->params.static_rate);
}

static int path_to(const struct qperf_rdma *r, struct ibv_ah_attr *ret, struct error *err)
{
	*ret = (struct ibv_ah_attr){ .dlid = (uint16_t)r->peer.lid,
				     .sl = (uint8_t)r->run->params.service_level,
				     .src_path_bits = (uint8_t)r->run->params.src_path_bits,
				     .port_num = r->port };
	if (r->grh && !r->peer.is_ours)
		return error_set(
			err, -EOPNOTSUPP,
			"the other end is qperf 0.4.11, which knows no RoCE without -cm1 (and with it RC only)");
	if (r->grh) {
		ret->is_global = 1;
		memcpy(ret->grh.dgid.raw, r->peer.gid, sizeof(r->peer.gid));
		ret->grh.sgid_index = (uint8_t)r->gid.gid_index;
		ret->grh.hop_limit = HOPS;
	}
	return static_rate(r, &ret->static_rate, err);
}

static int to_init(const struct qperf_rdma *r, struct ibv_qp *qp, struct error *err)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = r->port,
		.qkey = QKEY,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   (r->dev.atomic_cap != IBV_ATOMIC_NONE ? IBV_ACCESS_REMOTE_ATOMIC : 0),
	};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT, rc;

	if (r->test->type == IBV_QPT_UC)
		attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	mask |= r->test->type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	rc = ibv_modify_qp(qp, &attr, mask);
	return rc ? qperf_rdma_fail(err, rc, "modify QP to INIT") : 0;
}

/* A queue pair that receives reliably answers reads and says when it has no receive. */
static int to_rtr(const struct qperf_rdma *r, struct ibv_qp *qp, uint32_t dest, bool answers, struct error *err)
{
	const uint32_t peers = r->peer.rd_atomic, most = (uint32_t)r->dev.max_qp_rd_atom;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR,
				    .dest_qp_num = dest,
				    .rq_psn = r->peer.psn,
				    .max_dest_rd_atomic = (uint8_t)(peers < most ? peers : most),
				    .min_rnr_timer = RNR_TIMER };
	int mask = IBV_QP_STATE, rc = 0;

	if (r->test->type != IBV_QPT_UD) {
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
		rc = path_mtu(r, &attr.path_mtu, err);
		if (rc == 0)
			rc = path_to(r, &attr.ah_attr, err);
	}
	if (answers)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	if (rc)
		return rc;
	rc = ibv_modify_qp(qp, &attr, mask);
	return rc ? qperf_rdma_fail(err, rc, "modify QP to RTR") : 0;
}

static int to_rts(const struct qperf_rdma *r, struct error *err)
{
	const uint32_t most = (uint32_t)r->dev.max_qp_init_rd_atom,
		       own = r->own.rd_atomic < most ? r->own.rd_atomic : most;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS,
				    .sq_psn = r->own.psn,
				    .timeout = TIMEOUT,
				    .retry_cnt = RETRIES,
				    .rnr_retry = RETRIES,
				    .max_rd_atomic = (uint8_t)(own < r->peer.rd_atomic ? own : r->peer.rd_atomic) };
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN, rc;

	if (r->test->type == IBV_QPT_RC || r->test->type == IBV_QPT_XRC_SEND)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	rc = ibv_modify_qp(r->qp, &attr, mask);
	return rc ? qperf_rdma_fail(err, rc, "modify QP to RTS") : 0;
}

/* Both of an XRC test's queue pairs have the same path and numbers of packets. */
static int join_pairs(const struct qperf_rdma *r, struct error *err)
{
	int rc = to_rtr(r, r->qp, r->peer.qpn, r->test->type == IBV_QPT_RC, err);

	if (rc == 0 && r->target)
		rc = to_rtr(r, r->target, r->peer.sender, true, err);
	return rc ? rc : to_rts(r, err);
}

static int make_address(struct qperf_rdma *r, struct error *err)
{
	struct ibv_ah_attr path;
	int rc;

	if (r->test->type != IBV_QPT_UD)
		return 0;
	rc = path_to(r, &path, err);
	if (rc)
		return rc;
	r->ah = ibv_create_ah(r->pd, &path);
	return r->ah ? 0 : qperf_rdma_fail(err, errno, "create address handle");
}

int qperf_rdma_open(struct qperf_rdma *r, struct error *err)
{
	int rc;

	if (r->run->params.use_cm && r->test->type == IBV_QPT_RC)
		return qperf_cm_join(r, err);
	rc = qperf_rdma_make(r, err);
	if (rc == 0)
		rc = to_init(r, r->qp, err);
	if (rc == 0 && r->target)
		rc = to_init(r, r->target, err);
	if (rc == 0)
		rc = qperf_node_exchange(r, err);
	if (rc == 0 && r->target && !r->peer.is_ours)
		rc = error_set(err, -EOPNOTSUPP, "the other end is qperf 0.4.11, which has no XRC");
	if (rc == 0)
		rc = join_pairs(r, err);
	if (rc == 0)
		rc = make_address(r, err);
	return rc;
}
