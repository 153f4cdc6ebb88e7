/* Creates queue pairs, after a trial of what the device takes. */
#include "driver/ibv.h"

#include <errno.h>

enum ibv_qp_type ib_qp_kind(const struct spec *spec)
{
	switch (spec->transport) {
	case TRANSPORT_UC:
		return IBV_QPT_UC;
	case TRANSPORT_XRC:
		return IBV_QPT_XRC_SEND;
	case TRANSPORT_DC:
		return IBV_QPT_DRIVER;
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
static struct ibv_qp *create(struct ib_port *p, bool wr_api, uint32_t inline_size, uint32_t *granted)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = p->cq,
		.recv_cq = p->cq,
		.cap = {
			.max_send_wr = p->tx_depth,
			.max_recv_wr = p->xrcd || p->dc ? 0 : p->rx_depth,
			.max_send_sge = 1,
			.max_recv_sge = p->dc ? 0 : p->spec->transport == TRANSPORT_UD ? 2 : 1,
			.max_inline_data = inline_size,
		},
		.qp_type = ib_qp_kind(p->spec),
		.comp_mask = IBV_QP_INIT_ATTR_PD | (wr_api ? IBV_QP_INIT_ATTR_SEND_OPS_FLAGS : 0),
		.pd = p->pd,
		.send_ops_flags = wr_api ? send_ops(p->spec) : 0,
	};
	struct ibv_qp *qp;

	errno = 0;
	qp = p->calls->create_qp(p, &init);
	if (qp && granted)
		*granted = init.cap.max_inline_data;
	return qp;
}

void ib_qp_destroy(struct ib_port *p, struct ibv_qp *qp)
{
	const int rc = p->calls->destroy_qp(p, qp);

	ib_kept(p, rc, p->calls->name(p, "ibv_destroy_qp"), "a queue pair");
}

/* Creates a queue pair for trial; the port remembers what the device takes. */
static int try_create(struct ib_port *p, bool wr_api, uint32_t inline_size)
{
	uint32_t granted = 0;
	struct ibv_qp *qp = create(p, wr_api, inline_size, &granted);

	if (!qp)
		return errno ? -errno : -EINVAL;
	ib_qp_destroy(p, qp);
	p->wr_api = wr_api;
	p->inline_max = granted < inline_size ? granted : inline_size;
	return 0;
}

/* The device cannot, and is asked for less; any other answer is a failure. */
static bool may_do_less(int rc)
{
	return rc == -EINVAL || rc == -ENOMEM || rc == -ENOSPC || rc == -E2BIG || rc == -ENOSYS || rc == -EOPNOTSUPP ||
	       rc == -EPROTONOSUPPORT;
}

static int probe_api(struct ib_port *p, bool wr_api, uint32_t inline_size)
{
	int rc = try_create(p, wr_api, inline_size);

	return may_do_less(rc) && inline_size ? try_create(p, wr_api, 0) : rc;
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
	const char *call = "ibv_create_qp_ex";
	int rc = -EOPNOTSUPP;

	if (p->spec->post_api != CHOICE_OFF)
		rc = probe_api(p, true, want);
	if (may_do_less(rc) && p->spec->post_api == CHOICE_ON && !p->dc)
		return ib_fail(err, rc, "ibv_create_qp_ex",
			       "RDMA device %s makes no queue pair for ibv_wr_* calls: leave --wr_api out", p->name);
	if (may_do_less(rc) && !p->dc) {
		call = "ibv_create_qp";
		rc = probe_api(p, false, want);
	}
	if (rc)
		return ib_fail(err, rc, p->calls->name(p, call),
			       "RDMA device %s refuses a %s queue pair with %u sends and %u receives outstanding",
			       p->name, transport_name(p->spec->transport), p->tx_depth, p->rx_depth);
	if (asked && p->inline_max < want)
		return error_set(err, -EINVAL,
				 "--inline_size %u is too large for RDMA device %s: it takes at most %u bytes", want,
				 p->name, largest_inline(p, want));
	return 0;
}

int ib_qp_open(struct ib_ep *ep, struct error *err)
{
	struct ib_port *p = ib_ep_port(ep);
	int rc = 0;

	ep->qp = create(p, p->wr_api, p->inline_max, NULL);
	if (!ep->qp)
		return ib_fail(err, errno, p->calls->name(p, p->wr_api ? "ibv_create_qp_ex" : "ibv_create_qp"),
			       "cannot create queue pair %u of %llu on %s, which allows %d in all", ep->ep.index + 1,
			       (unsigned long long)p->spec->qps, p->name, p->dev.max_qp);
	ep->qp->qp_context = ep;
	if (p->wr_api)
		ep->qpx = ibv_qp_to_qp_ex(ep->qp);
	if (p->xrcd)
		rc = ib_xrc_ep_open(ep, err);
	if (p->dc)
		rc = ib_dc_ep_open(ep, err);
	if (!rc && !p->spec->use_ece)
		rc = ib_qp_init(ep, err);
	return rc || !p->dc ? rc : ib_qp_ready_target(ep, err);
}

void ib_qp_close(struct ib_ep *ep)
{
	struct ib_port *p = ib_ep_port(ep);

	if (ep->qp)
		ib_qp_destroy(p, ep->qp);
	if (ep->target)
		ib_kept(p, ibv_destroy_qp(ep->target), "ibv_destroy_qp", "a queue pair");
	if (ep->srq)
		ib_kept(p, ibv_destroy_srq(ep->srq), "ibv_destroy_srq", "a receive queue");
	ep->qp = ep->target = NULL;
	ep->qpx = NULL;
	ep->srq = NULL;
}
