/* Enhanced connection establishment: the ends agree, before a queue pair leaves RESET, on options of the vendor's. */
#include "driver/ibv.h"

#include "spec/result.h"

#include <errno.h>

static int query(const struct ib_ep *ep, struct ib_ece *ret, struct error *err)
{
	const struct ib_port *p = ib_ep_port(ep);
	struct ibv_ece ece = { 0 };
	int rc = ibv_query_ece(ep->qp, &ece);

	if (rc == EOPNOTSUPP)
		return ib_fail(err, rc, "ibv_query_ece", "RDMA device %s has no enhanced connection establishment",
			       p->name);
	if (rc)
		return ib_fail(err, rc, "ibv_query_ece", "RDMA device %s does not tell its vendor's options of QP %u",
			       p->name, ep->qp->qp_num);
	*ret = (struct ib_ece){ .vendor = ece.vendor_id, .options = ece.options };
	return 0;
}

/* Before INIT; then the device tells what it made of it. */
static int set(struct ib_ep *ep, struct ib_ece *ret, struct error *err)
{
	const struct ib_port *p = ib_ep_port(ep);
	const struct ib_ece *wanted = &ep->peer.ece;
	struct ibv_ece ece = { .vendor_id = wanted->vendor, .options = wanted->options };
	int rc = ibv_set_ece(ep->qp, &ece);

	if (rc)
		return ib_fail(err, rc, "ibv_set_ece",
			       "RDMA device %s refuses vendor 0x%x's options 0x%x that the peer's %s asks for", p->name,
			       wanted->vendor, wanted->options, ep->peer.device);
	rc = ib_qp_init(ep, err);
	return rc ? rc : query(ep, ret, err);
}

int ib_ece_query(struct ib_ep *ep, struct error *err)
{
	return query(ep, &ep->own.ece, err);
}

int ib_ece_answer(struct ib_ep *ep, struct error *err)
{
	return set(ep, &ep->own.ece, err);
}

int ib_ece_accept(struct ib_ep *ep, struct error *err)
{
	const struct ib_ece *answer = &ep->peer.ece;
	struct ib_ece got = { 0 };
	int rc = set(ep, &got, err);

	if (rc)
		return rc;
	if (got.vendor == answer->vendor && got.options == answer->options)
		return 0;
	return error_set(err, -EPROTO,
			 "enhanced connection establishment failed: the peer's %s answered with vendor 0x%x's options "
			 "0x%x, %s here made vendor 0x%x's 0x%x of them: leave out --use_ece",
			 ep->peer.device, answer->vendor, answer->options, ib_ep_port(ep)->name, got.vendor,
			 got.options);
}

static void add(struct facts *ret, const char *key, const char *label, const struct ib_ece *ece)
{
	facts_add(ret, key, label, "vendor 0x%x, options 0x%x", ece->vendor, ece->options);
}

void ib_ece_facts(const struct ib_ep *ep, struct facts *ret)
{
	struct ib_ece used;

	add(ret, "eceOffered", "ECE offered", ep->answers ? &ep->peer.ece : &ep->own.ece);
	add(ret, "eceAgreed", "ECE agreed", ep->answers ? &ep->own.ece : &ep->peer.ece);
	if (query(ep, &used, NULL) == 0)
		add(ret, "eceUsed", "ECE after RTS", &used);
}
