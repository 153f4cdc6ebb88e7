/* Creates queue pairs and takes them from INIT over RTR to RTS with the test's knobs. */
#include "driver/ibv.h"

#include <errno.h>
#include <rdma/rdma_cma.h>
#include <string.h>

enum ibv_qp_type ib_qp_kind(const struct spec *spec)
{
	switch (spec->transport) {
	case TRANSPORT_UC:
		return IBV_QPT_UC;
	case TRANSPORT_UD:
		return IBV_QPT_UD;
	default:
		return IBV_QPT_RC;
	}
}

/* What a verb needs: rights at the memory and the queue pair, and a flag at the creation of one for ibv_wr_*. */
static const struct {
	unsigned access;
	uint64_t send_op;
} needs[] = {
	[VERB_WRITE] = { IBV_ACCESS_REMOTE_WRITE, IBV_QP_EX_WITH_RDMA_WRITE },
	[VERB_WRITE_IMM] = { IBV_ACCESS_REMOTE_WRITE, IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM },
	[VERB_READ] = { IBV_ACCESS_REMOTE_READ, IBV_QP_EX_WITH_RDMA_READ },
	[VERB_SEND] = { 0, IBV_QP_EX_WITH_SEND },
	[VERB_ATOMIC_FA] = { IBV_ACCESS_REMOTE_ATOMIC, IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD },
	[VERB_ATOMIC_CS] = { IBV_ACCESS_REMOTE_ATOMIC, IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP },
};
#define NEEDS (sizeof(needs) / sizeof(needs[0]))

uint32_t ib_access(const struct spec *spec)
{
	const uint32_t verbs = spec_verbs(spec);
	uint32_t access = IBV_ACCESS_LOCAL_WRITE;

	for (unsigned verb = 0; verb < NEEDS; verb++)
		access |= verbs & VERB_BIT(verb) ? needs[verb].access : 0;
	return access;
}

static uint64_t send_ops(const struct spec *spec)
{
	const uint32_t verbs = spec_verbs(spec);
	uint64_t flags = 0;

	for (unsigned verb = 0; verb < NEEDS; verb++)
		flags |= verbs & VERB_BIT(verb) ? needs[verb].send_op : 0;
	return flags;
}

/* NULL with errno when the device refuses. */
static struct ibv_qp *create(const struct ib_port *p, bool wr_api, uint32_t inline_size, uint32_t *granted)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = p->cq,
		.recv_cq = p->cq,
		.cap = {
			.max_send_wr = p->tx_depth,
			.max_recv_wr = p->rx_depth,
			.max_send_sge = 1,
			.max_recv_sge = p->spec->transport == TRANSPORT_UD ? 2 : 1,
			.max_inline_data = inline_size,
		},
		.qp_type = ib_qp_kind(p->spec),
		.comp_mask = IBV_QP_INIT_ATTR_PD | (wr_api ? IBV_QP_INIT_ATTR_SEND_OPS_FLAGS : 0),
		.pd = p->pd,
		.send_ops_flags = wr_api ? send_ops(p->spec) : 0,
	};
	struct ibv_qp *qp;

	errno = 0;
	qp = ibv_create_qp_ex(p->context, &init);
	if (qp && granted)
		*granted = init.cap.max_inline_data;
	return qp;
}

/* Creates a queue pair for trial; the port remembers what the device takes. */
static int try_create(struct ib_port *p, bool wr_api, uint32_t inline_size)
{
	uint32_t granted = 0;
	struct ibv_qp *qp = create(p, wr_api, inline_size, &granted);

	if (!qp)
		return errno ? -errno : -EIO;
	ib_kept(p, ibv_destroy_qp(qp), "ibv_destroy_qp", "a queue pair");
	p->wr_api = wr_api;
	p->inline_max = granted < inline_size ? granted : inline_size;
	return 0;
}

static int probe_api(struct ib_port *p, bool wr_api, uint32_t inline_size)
{
	int rc = try_create(p, wr_api, inline_size);

	return rc && inline_size ? try_create(p, wr_api, 0) : rc;
}

/* What the device takes when it has refused a size: only asked for the sentence. */
static uint32_t largest_inline(struct ib_port *p, uint32_t refused)
{
	uint32_t taken = p->inline_max;

	while (refused - taken > 1) {
		uint32_t middle = taken + (refused - taken) / 2;

		if (try_create(p, p->wr_api, middle) == 0 && p->inline_max >= middle)
			taken = middle;
		else
			refused = middle;
	}
	return taken;
}

/* The largest message that travels in its work request: no more room than that, as it makes the queue's entries larger. */
static uint32_t inline_of(const struct spec *spec)
{
	const uint64_t most = ib_knob(spec->inline_size, IB_INLINE_AUTO);
	struct spec_op op[SPEC_OPS];
	uint64_t wanted = 0;
	bool any = false;

	if (!mem_is_visible(spec->mem))
		return 0;
	for (unsigned ops = spec_ops(spec, op); ops; ops--) {
		const struct spec_op *o = &op[ops - 1];

		if (!ib_can_inline((enum verb)o->verb))
			continue;
		any = true;
		if (o->size <= most && o->size > wanted)
			wanted = o->size;
	}
	return any && spec->inline_size != SPEC_AUTO ? (uint32_t)most : (uint32_t)wanted;
}

static uint32_t inline_wanted(const struct ib_port *p)
{
	const struct spec *test;
	uint32_t wanted = 0;

	for (unsigned i = 0; (test = port_test(&p->conf, i)); i++)
		wanted = inline_of(test) > wanted ? inline_of(test) : wanted;
	return wanted;
}

int ib_qp_probe(struct ib_port *p, struct error *err)
{
	uint32_t want = inline_wanted(p);
	bool asked = p->spec->inline_size != SPEC_AUTO;
	int rc = -EOPNOTSUPP;

	if (p->spec->post_api != CHOICE_OFF)
		rc = probe_api(p, true, want);
	if (rc && p->spec->post_api == CHOICE_ON)
		return ib_fail(err, rc, "ibv_create_qp_ex",
			       "RDMA device %s makes no queue pair for ibv_wr_* calls: leave --wr_api out", p->name);
	if (rc)
		rc = probe_api(p, false, want);
	if (rc)
		return ib_fail(err, rc, "ibv_create_qp",
			       "RDMA device %s refuses a %s queue pair with %u sends and %u receives outstanding",
			       p->name, transport_name(p->spec->transport), p->tx_depth, p->rx_depth);
	if (asked && p->inline_max < want)
		return error_set(err, -EINVAL,
				 "--inline_size %u is too large for RDMA device %s: it takes at most %u bytes", want,
				 p->name, largest_inline(p, want));
	return 0;
}

/* Datagrams set up by rdma_cm have the key that the kernel gives to all of its users. */
uint32_t ib_qp_key(const struct ib_port *p)
{
	return p->cm ? RDMA_UDP_QKEY : IB_QKEY;
}

static int to_init(const struct ib_ep *ep)
{
	const struct ib_port *p = ib_ep_port(ep);
	bool ud = p->spec->transport == TRANSPORT_UD;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = p->num,
		.pkey_index = (uint16_t)p->spec->pkey_index,
		.qkey = ib_qp_key(p),
		.qp_access_flags = ib_access(p->spec),
	};

	return ibv_modify_qp(ep->qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
}

int ib_qp_open(struct ib_ep *ep, struct error *err)
{
	struct ib_port *p = ib_ep_port(ep);
	int rc;

	ep->qp = create(p, p->wr_api, p->inline_max, NULL);
	if (!ep->qp)
		return ib_fail(err, errno, p->wr_api ? "ibv_create_qp_ex" : "ibv_create_qp",
			       "cannot create queue pair %u of %llu on %s, which allows %d in all", ep->ep.index + 1,
			       (unsigned long long)p->spec->qps, p->name, p->dev.max_qp);
	if (p->wr_api)
		ep->qpx = ibv_qp_to_qp_ex(ep->qp);
	rc = to_init(ep);
	if (rc)
		return ib_fail(err, rc, "ibv_modify_qp", "cannot bring QP %u of %s to INIT with P_Key index %llu",
			       ep->qp->qp_num, p->name, (unsigned long long)p->spec->pkey_index);
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

static int choose_mtu(struct ib_ep *ep, struct error *err)
{
	const struct ib_port *p = ib_ep_port(ep);
	enum ibv_mtu both = ep->own.mtu < ep->peer.mtu ? ep->own.mtu : ep->peer.mtu;
	enum ibv_mtu mtu = IBV_MTU_256;

	if (p->spec->mtu == SPEC_AUTO) {
		ep->mtu = both;
		return 0;
	}
	while (mtu < IBV_MTU_4096 && ib_mtu_bytes(mtu) < p->spec->mtu)
		mtu++;
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
	int mask = IBV_QP_STATE;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = ep->mtu,
		.dest_qp_num = ep->peer.qpn,
		.rq_psn = ep->peer.psn,
		.ah_attr = path_to(p, &ep->peer),
		.max_dest_rd_atomic = ep->own.rd_resp < ep->peer.rd_init ? ep->own.rd_resp : ep->peer.rd_init,
		.min_rnr_timer = (uint8_t)p->spec->min_rnr_timer,
	};

	if (p->spec->transport != TRANSPORT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (p->spec->transport == TRANSPORT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return ibv_modify_qp(ep->qp, &attr, mask);
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

	if (p->spec->transport == TRANSPORT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	return ibv_modify_qp(ep->qp, &attr, mask);
}

/* One address handle serves all datagram endpoints: they have the same peer. */
static int open_ah(struct ib_port *p, const struct ib_addr *peer, struct error *err)
{
	struct ibv_ah_attr path = path_to(p, peer);
	char gid[IB_GID_TEXT];

	if (p->ah && memcmp(p->ah_peer.gid, peer->gid, sizeof(peer->gid)) == 0 && p->ah_peer.lid == peer->lid)
		return 0;
	if (p->ah)
		return error_set(err, -EINVAL, "the peer's UD endpoints have more than one address");
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
	return error_set(
		err, -EINVAL,
		"--msg_size %u does not fit in one UD message: the path from %s to the peer's %s carries %u bytes",
		p->most_size, p->name, ep->peer.device, ib_mtu_bytes(ep->mtu));
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
	return ib_fail(err, rc, "ibv_modify_qp",
		       "cannot bring QP %u of %s to %s, with peer's QP %u, GID %s, path MTU %u", ep->qp->qp_num,
		       p->name, state, ep->peer.qpn, ib_gid_format(ep->peer.gid, gid), ib_mtu_bytes(ep->mtu));
}

static int ready(struct ib_ep *ep, struct error *err)
{
	int rc = transition(ep, to_rtr, "RTR", err);

	return rc ? rc : transition(ep, to_rts, "RTS", err);
}

int ib_qp_ready_ud(struct ib_ep *ep, struct error *err)
{
	int rc = open_ah(ib_ep_port(ep), &ep->peer, err);

	return rc ? rc : ready(ep, err);
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
	return ud ? ib_qp_ready_ud(ep, err) : ready(ep, err);
}
