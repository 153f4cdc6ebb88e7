/* Takes queue pairs from RESET over INIT and RTR to RTS with the test's knobs. */
#include "driver/ibv.h"

#include <errno.h>
#include <rdma/rdma_cma.h>
#include <string.h>

/* Datagrams set up by rdma_cm have the key that the kernel gives to all of its users. */
uint32_t ib_qp_key(const struct ib_port *p)
{
	return p->cm ? RDMA_UDP_QKEY : IB_QKEY;
}

static int to_init(struct ib_ep *ep)
{
	const struct ib_port *p = ib_ep_port(ep);
	const int always = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = p->num,
		.pkey_index = (uint16_t)p->spec->pkey_index,
		.qkey = ib_qp_key(p),
		.qp_access_flags = ib_access(p->spec),
	};

	int own = p->spec->transport == TRANSPORT_UD ? IBV_QP_QKEY : p->dc ? 0 : IBV_QP_ACCESS_FLAGS;
	int rc = p->calls->modify_qp(ep, &attr, always | own);

	return !rc && ep->target ? ibv_modify_qp(ep->target, &attr, always | IBV_QP_ACCESS_FLAGS) : rc;
}

int ib_qp_init(struct ib_ep *ep, struct error *err)
{
	const struct ib_port *p = ib_ep_port(ep);
	int rc = to_init(ep);

	if (rc)
		return ib_fail(err, rc, p->calls->name(p, "ibv_modify_qp"),
			       "cannot bring QP %u of %s to INIT with P_Key index %llu", ep->qp->qp_num, p->name,
			       (unsigned long long)p->spec->pkey_index);
	return 0;
}

void ib_path_knobs(const struct ib_port *p, struct ibv_ah_attr *path)
{
	const struct spec *spec = p->spec;

	if (p->attr.link_layer == IBV_LINK_LAYER_ETHERNET || spec->service_level)
		path->sl = (uint8_t)spec->service_level;
	path->grh.hop_limit = (uint8_t)spec->hop_limit;
	path->grh.traffic_class = (uint8_t)spec->traffic_class;
	if (spec->flow_label != SPEC_AUTO)
		path->grh.flow_label = (uint32_t)spec->flow_label;
}

static struct ibv_ah_attr path_to(const struct ib_port *p, const struct ib_addr *peer)
{
	struct ibv_ah_attr path = {
		.dlid = peer->lid,
		.port_num = p->num,
		.is_global = p->grh,
		.grh = { .sgid_index = (uint8_t)p->gid.gid_index },
	};

	memcpy(path.grh.dgid.raw, peer->gid, sizeof(peer->gid));
	ib_path_knobs(p, &path);
	return path;
}

/* The smallest path MTU of at least that many bytes, or the largest. */
static enum ibv_mtu mtu_of(uint64_t bytes)
{
	enum ibv_mtu mtu = IBV_MTU_256;

	while (mtu < IBV_MTU_4096 && ib_mtu_bytes(mtu) < bytes)
		mtu++;
	return mtu;
}

/* A DC target has its MTU before the ends know of each other. */
static int check_targets(const struct ib_ep *ep, struct error *err)
{
	const struct ib_port *p = ib_ep_port(ep);

	if (!p->dc || ep->own.mtu == ep->peer.mtu)
		return 0;
	return error_set(err, -EINVAL,
			 "with -c DC both ends need one MTU: %s here has %u bytes, the peer's %s %u: give --mtu %u",
			 p->name, ib_mtu_bytes(ep->own.mtu), ep->peer.device, ib_mtu_bytes(ep->peer.mtu),
			 ib_mtu_bytes(ep->own.mtu < ep->peer.mtu ? ep->own.mtu : ep->peer.mtu));
}

static int choose_mtu(struct ib_ep *ep, struct error *err)
{
	const struct ib_port *p = ib_ep_port(ep);
	enum ibv_mtu both = ep->own.mtu < ep->peer.mtu ? ep->own.mtu : ep->peer.mtu;
	enum ibv_mtu mtu = mtu_of(p->spec->mtu);

	if (p->spec->mtu == SPEC_AUTO) {
		ep->mtu = both;
		return check_targets(ep, err);
	}
	if (ib_mtu_bytes(mtu) != p->spec->mtu)
		return error_set(err, -EINVAL, "--mtu %llu is not an RDMA path MTU: 256, 512, 1024, 2048 or 4096",
				 (unsigned long long)p->spec->mtu);
	if (mtu > both)
		return error_set(err, -EINVAL,
				 "--mtu %llu is more than the path carries: %u bytes on %s here, %u on the peer's %s",
				 (unsigned long long)p->spec->mtu, ib_mtu_bytes(ep->own.mtu), p->name,
				 ib_mtu_bytes(ep->peer.mtu), ep->peer.device);
	ep->mtu = mtu;
	return 0;
}

static int to_rtr(struct ib_ep *ep)
{
	const struct ib_port *p = ib_ep_port(ep);
	int mask = IBV_QP_STATE, answers = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, rc;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = ep->mtu,
		.dest_qp_num = ep->peer.target_qpn,
		.rq_psn = ep->peer.psn,
		.ah_attr = path_to(p, &ep->peer),
		.max_dest_rd_atomic = ep->own.rd_resp < ep->peer.rd_init ? ep->own.rd_resp : ep->peer.rd_init,
		.min_rnr_timer = (uint8_t)p->spec->min_rnr_timer,
	};

	if (p->spec->transport != TRANSPORT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU;
	if (p->spec->transport != TRANSPORT_UD && !p->dc)
		mask |= IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (p->spec->transport == TRANSPORT_RC)
		mask |= answers;
	rc = p->calls->modify_qp(ep, &attr, mask);
	attr.dest_qp_num = ep->peer.qpn;
	return !rc && p->xrcd ? ibv_modify_qp(ep->target, &attr, mask | answers) : rc;
}

static int to_rts(struct ib_ep *ep)
{
	const struct ib_port *p = ib_ep_port(ep);
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = ep->own.psn,
		.timeout = (uint8_t)p->spec->qp_timeout,
		.retry_cnt = (uint8_t)p->spec->retry_count,
		.rnr_retry = (uint8_t)p->spec->rnr_retry,
		.max_rd_atomic = ep->rd_atomic,
	};

	if (transport_is_reliable((enum transport)p->spec->transport))
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	return p->calls->modify_qp(ep, &attr, mask);
}

/* One address handle serves all endpoints: they have the same peer. */
static int open_ah(struct ib_port *p, const struct ib_addr *peer, struct error *err)
{
	struct ibv_ah_attr path = path_to(p, peer);
	char gid[IB_GID_TEXT];

	if (p->ah && memcmp(p->ah_peer.gid, peer->gid, sizeof(peer->gid)) == 0 && p->ah_peer.lid == peer->lid)
		return 0;
	if (p->ah)
		return error_set(err, -EINVAL, "the peer's %s endpoints have more than one address",
				 transport_name(p->spec->transport));
	errno = 0;
	p->ah = ibv_create_ah(p->pd, &path);
	if (!p->ah)
		return ib_fail(err, errno, "ibv_create_ah", "cannot reach the peer's GID %s from %s",
			       ib_gid_format(peer->gid, gid), p->name);
	p->ah_peer = *peer;
	return 0;
}

static int check_ud(const struct ib_ep *ep, struct error *err)
{
	const struct ib_port *p = ib_ep_port(ep);

	if (p->most_size <= ib_mtu_bytes(ep->mtu))
		return 0;
	return error_set(err, -EINVAL,
			 "--%s %u does not fit in one UD message: the path from %s to the peer's %s carries %u bytes",
			 spec_size_option(p->spec), p->most_size, p->name, ep->peer.device, ib_mtu_bytes(ep->mtu));
}

static int check_rd_atomic(const struct ib_ep *ep, struct error *err)
{
	const struct ib_port *p = ib_ep_port(ep);
	uint64_t asked = p->spec->max_rd_atomic;

	if (asked == SPEC_AUTO || !port_sends(&p->conf) || ep->rd_atomic >= asked)
		return 0;
	return error_set(err, -EINVAL,
			 "--max_rd_atomic %llu is too large: %s here starts at most %u, the peer's %s answers %u",
			 (unsigned long long)asked, p->name, ep->own.rd_init, ep->peer.device, ep->peer.rd_resp);
}

static int transition(struct ib_ep *ep, int (*go)(struct ib_ep *), const char *state, struct error *err)
{
	const struct ib_port *p = ib_ep_port(ep);
	char gid[IB_GID_TEXT];
	int rc = go(ep);

	if (!rc)
		return 0;
	return ib_fail(err, rc, p->calls->name(p, "ibv_modify_qp"),
		       "cannot bring QP %u of %s to %s, with peer's QP %u, GID %s, path MTU %u", ep->qp->qp_num,
		       p->name, state, ep->peer.qpn, ib_gid_format(ep->peer.gid, gid), ib_mtu_bytes(ep->mtu));
}

static int ready(struct ib_ep *ep, struct error *err)
{
	int rc = transition(ep, to_rtr, "RTR", err);

	return rc ? rc : transition(ep, to_rts, "RTS", err);
}

int ib_qp_ready_ah(struct ib_ep *ep, struct error *err)
{
	int rc = open_ah(ib_ep_port(ep), &ep->peer, err);

	return rc ? rc : ready(ep, err);
}

int ib_qp_ready_target(struct ib_ep *ep, struct error *err)
{
	const struct ib_port *p = ib_ep_port(ep);
	const struct ib_addr none = { 0 };
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = p->spec->mtu == SPEC_AUTO ? p->attr.active_mtu : mtu_of(p->spec->mtu),
		.ah_attr = path_to(p, &none),
		.min_rnr_timer = (uint8_t)p->spec->min_rnr_timer,
	};
	int rc;

	if (attr.path_mtu > p->attr.active_mtu)
		return error_set(err, -EINVAL, "--mtu %llu is more than the path carries: %u bytes on %s",
				 (unsigned long long)p->spec->mtu, ib_mtu_bytes(p->attr.active_mtu), p->name);
	rc = ibv_modify_qp(ep->target, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_MIN_RNR_TIMER);
	return rc ? ib_fail(err, rc, "ibv_modify_qp", "cannot bring a DC target of %s to RTR with path MTU %u", p->name,
			    ib_mtu_bytes(attr.path_mtu))
		  : 0;
}

int ib_qp_connect(struct ib_ep *ep, int64_t deadline_ns, struct error *err)
{
	const struct ib_port *p = ib_ep_port(ep);
	bool ud = p->spec->transport == TRANSPORT_UD;
	int rc = ib_addr_check(&ep->own, &ep->peer, err);

	if (rc)
		return rc;
	ep->rd_atomic = ep->own.rd_init < ep->peer.rd_resp ? ep->own.rd_init : ep->peer.rd_resp;
	rc = choose_mtu(ep, err);
	if (!rc)
		rc = ud ? check_ud(ep, err) : check_rd_atomic(ep, err);
	if (rc)
		return rc;
	if (p->cm)
		return ib_cm_connect(ep, deadline_ns, err);
	return ud || p->dc ? ib_qp_ready_ah(ep, err) : ready(ep, err);
}
