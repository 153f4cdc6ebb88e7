/* libibverbs' calls (and for DC libmlx5's) for the queues and queue pairs of a port: what another library can do in their place. */
#include "driver/ibv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static int refused(const struct ib_port *p, const char *call, const char *what, struct error *err)
{
	return ib_fail(err, errno, call, "RDMA device %s refuses %s", p->name, what);
}

static int verbs_open(struct ib_port *p, uint64_t entries, struct error *err)
{
	errno = 0;
	p->pd = ibv_alloc_pd(p->context);
	if (!p->pd)
		return refused(p, "ibv_alloc_pd", "a protection domain", err);
	if (p->spec->events == CHOICE_ON) {
		p->channel = ibv_create_comp_channel(p->context);
		if (!p->channel || fcntl(p->channel->fd, F_SETFL, O_NONBLOCK))
			return refused(p, "ibv_create_comp_channel", "a completion channel for --events", err);
	}
	p->cq = ibv_create_cq(p->context, (int)entries, NULL, p->channel, 0);
	if (!p->cq)
		return refused(p, "ibv_create_cq", "a completion queue", err);
	return 0;
}

static void verbs_close(struct ib_port *p)
{
	if (p->cq && p->unacked)
		ibv_ack_cq_events(p->cq, p->unacked);
	if (p->cq)
		ib_kept(p, ibv_destroy_cq(p->cq), "ibv_destroy_cq", "a completion queue");
	if (p->channel)
		ib_kept(p, ibv_destroy_comp_channel(p->channel), "ibv_destroy_comp_channel", "a completion channel");
	if (p->pd)
		ib_kept(p, ibv_dealloc_pd(p->pd), "ibv_dealloc_pd", "a protection domain");
}

static const char *verbs_name(const struct ib_port *p, const char *call)
{
	return p->dc && strncmp(call, "ibv_create_qp", strlen("ibv_create_qp")) == 0 ? "mlx5dv_create_qp" : call;
}

static struct ibv_qp *verbs_create_qp(struct ib_port *p, struct ibv_qp_init_attr_ex *init)
{
	return p->dc ? ib_dc_create(p, init) : ibv_create_qp_ex(p->context, init);
}

static int verbs_modify_qp(struct ib_ep *ep, struct ibv_qp_attr *attr, int mask)
{
	return ibv_modify_qp(ep->qp, attr, mask);
}

static int verbs_query_qp(const struct ib_ep *ep, struct ibv_qp_attr *ret, int mask)
{
	struct ibv_qp_init_attr init;

	return ibv_query_qp(ep->qp, ret, mask, &init);
}

static int verbs_destroy_qp(struct ib_port *p, struct ibv_qp *qp)
{
	(void)p;
	return ibv_destroy_qp(qp);
}

const struct ib_calls ib_verbs_calls = {
	.open = verbs_open,
	.close = verbs_close,
	.name = verbs_name,
	.create_qp = verbs_create_qp,
	.modify_qp = verbs_modify_qp,
	.query_qp = verbs_query_qp,
	.destroy_qp = verbs_destroy_qp,
};
