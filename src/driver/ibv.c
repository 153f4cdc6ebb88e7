/* The libibverbs driver: a port of an RDMA device for one worker, its memory and its queue pairs. */
#include "driver/ibv.h"

#include "mem/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* Which queues this side needs; the other keeps one entry, since some devices refuse none. */
static void set_depths(struct ib_port *p)
{
	const struct spec *spec = p->spec;
	bool two_sided = spec_verbs(spec) & TWO_SIDED_VERBS;
	bool answers = spec->metric == METRIC_LAT && latency_is_ping_pong(spec);

	p->tx_depth = port_sends(&p->conf) || answers ? (uint32_t)PORT_MOST(&p->conf, tx_depth) : 1;
	p->rx_depth = two_sided && (port_receives(&p->conf) || answers) ? (uint32_t)PORT_MOST(&p->conf, rx_depth) : 1;
	p->most_size = (uint32_t)PORT_MOST(&p->conf, size);
}

uint64_t ib_max_message(const struct ib_port *p)
{
	if (p->spec->transport == TRANSPORT_UD)
		return ib_mtu_bytes(p->attr.active_mtu);
	return p->attr.max_msg_sz ? p->attr.max_msg_sz : 1u << 31;
}

static int check_limit(const struct ib_port *p, const char *option, uint64_t value, uint64_t most, struct error *err)
{
	if (value <= most)
		return 0;
	return error_set(err, -EINVAL, "--%s %llu is too large: RDMA device %s allows at most %llu%s", option,
			 (unsigned long long)value, p->name, (unsigned long long)most,
			 most == ib_max_message(p) && p->spec->transport == TRANSPORT_UD ? " bytes with UD (its MTU)"
											 : "");
}

/*
 * Entries of the completion queue: room for every request where that is cheap, else for those that are signalled. Only
 * a queue pair that fails completes more than that, and then its first entry tells all there is to know.
 */
static uint64_t cq_entries(const struct ib_port *p)
{
	uint64_t all = ((uint64_t)p->tx_depth + p->rx_depth) * p->spec->qps;
	uint64_t signalled = 0;
	const struct spec *test;

	for (unsigned i = 0; (test = port_test(&p->conf, i)); i++) {
		const uint64_t its = p->tx_depth / test->cq_mod + 2; /* POST_LAST, and the rest of the division */

		signalled = its > signalled ? its : signalled;
	}
	if (signalled > p->tx_depth)
		signalled = p->tx_depth;
	return all <= IB_CQ_CHEAP ? all : (signalled + p->rx_depth) * p->spec->qps;
}

static int check_limits(const struct ib_port *p, struct error *err)
{
	const struct spec *spec = p->spec;
	uint64_t cqe = cq_entries(p);
	int rc = check_limit(p, spec_size_option(spec), p->most_size, ib_max_message(p), err);

	if (!rc)
		rc = check_limit(p, "qps", spec->qps, (uint64_t)p->dev.max_qp, err);
	if (!rc)
		rc = check_limit(p, "tx_depth", p->tx_depth, (uint64_t)p->dev.max_qp_wr, err);
	if (!rc)
		rc = check_limit(p, "rx_depth", p->rx_depth, (uint64_t)p->dev.max_qp_wr, err);
	if (!rc && cqe > (uint64_t)p->dev.max_cqe)
		return error_set(
			err, -EINVAL,
			"%llu queue pairs of %u sends and %u receives need a completion queue of %llu entries, RDMA "
			"device %s allows %d: lower --tx_depth, --rx_depth or --qps",
			(unsigned long long)spec->qps, p->tx_depth, p->rx_depth, (unsigned long long)cqe, p->name,
			p->dev.max_cqe);
	if (!rc && spec_verbs(spec) & ATOMIC_VERBS && p->dev.atomic_cap == IBV_ATOMIC_NONE)
		return error_set(err, -EOPNOTSUPP, "RDMA device %s has no atomic operations: choose another --verb",
				 p->name);
	return rc;
}

static int refused(const struct ib_port *p, const char *call, const char *what, struct error *err)
{
	return ib_fail(err, errno, call, "RDMA device %s refuses %s", p->name, what);
}

static int open_queue(struct ib_port *p, struct error *err)
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
	p->cq = ibv_create_cq(p->context, (int)cq_entries(p), NULL, p->channel, 0);
	if (!p->cq)
		return refused(p, "ibv_create_cq", "a completion queue", err);
	return 0;
}

static int open_scratch(struct ib_port *p, struct error *err)
{
	if (p->spec->transport != TRANSPORT_UD)
		return 0;
	errno = 0;
	p->scratch_mr = ibv_reg_mr(p->pd, p->scratch, sizeof(p->scratch), IBV_ACCESS_LOCAL_WRITE);
	return p->scratch_mr ? 0 : refused(p, "ibv_reg_mr", "memory for the headers of datagrams", err);
}

static void ib_close(struct port *port)
{
	struct ib_port *p = (struct ib_port *)port;

	if (!p)
		return;
	for (uint32_t i = 0; p->eps && i < p->spec->qps; i++)
		driver_ibv.ep_close(&p->eps[i].ep);
	ib_cm_close(p);
	if (p->ah)
		ib_kept(p, ibv_destroy_ah(p->ah), "ibv_destroy_ah", "an address handle");
	if (p->scratch_mr)
		ib_kept(p, ibv_dereg_mr(p->scratch_mr), "ibv_dereg_mr", "a memory region");
	ib_tph_close(p);
	ib_xrc_close(p);
	if (p->cq && p->unacked)
		ibv_ack_cq_events(p->cq, p->unacked);
	if (p->cq)
		ib_kept(p, ibv_destroy_cq(p->cq), "ibv_destroy_cq", "a completion queue");
	if (p->channel)
		ib_kept(p, ibv_destroy_comp_channel(p->channel), "ibv_destroy_comp_channel", "a completion channel");
	if (p->pd)
		ib_kept(p, ibv_dealloc_pd(p->pd), "ibv_dealloc_pd", "a protection domain");
	if (p->context)
		ib_dev_close(p, p->context);
	free(p->eps);
	free(p);
}

static int open_all(struct ib_port *p, struct error *err)
{
	int rc = ib_dev_open(p, err);

	if (!rc)
		rc = check_limits(p, err);
	if (!rc)
		rc = ib_gid_setup(p, err);
	if (!rc)
		rc = open_queue(p, err);
	if (!rc && p->spec->transport == TRANSPORT_XRC)
		rc = ib_xrc_open(p, err);
	if (!rc)
		rc = ib_qp_probe(p, err);
	if (!rc)
		rc = open_scratch(p, err);
	if (!rc && p->spec->ph)
		rc = ib_tph_open(p, err);
	if (!rc && p->spec->rdma_cm == CHOICE_ON)
		rc = ib_cm_open(p, err);
	return rc;
}

/*
 * libmlx5 may deliver small payloads in the completion and copies them from there by the CPU: not into memory that the
 * CPU cannot touch.
 */
static void keep_cpu_off(const struct spec *spec)
{
	if (!mem_is_visible(spec->mem))
		setenv("MLX5_SCATTER_TO_CQE", "0", 1);
}

static int ib_open(const struct port_conf *conf, struct port **ret, struct error *err)
{
	struct ib_port *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return error_set(err, -ENOMEM, "no memory for an RDMA port");
	p->port.drv = &driver_ibv;
	p->conf = *conf;
	p->spec = conf->spec;
	p->eps = calloc(conf->spec->qps, sizeof(*p->eps));
	keep_cpu_off(conf->spec);
	set_depths(p);
	rc = p->eps ? open_all(p, err)
		    : error_set(err, -ENOMEM, "no memory for %llu queue pairs", (unsigned long long)conf->spec->qps);
	if (rc) {
		ib_close(&p->port);
		return rc;
	}
	*ret = &p->port;
	return 0;
}

static void ib_caps(const struct port *port, struct caps *ret)
{
	const struct ib_port *p = (const struct ib_port *)port;
	uint32_t transport = p->spec->transport;
	bool two_sided = spec_verbs(p->spec) & TWO_SIDED_VERBS;

	*ret = (struct caps){
		.max_size = ib_max_message(p),
		.max_tx_depth = (uint32_t)p->dev.max_qp_wr,
		.max_rx_depth = (uint32_t)p->dev.max_qp_wr,
		.max_qps = (uint32_t)p->dev.max_qp,
		.stride_align = 64,
		.device = p->name,
		.delivery = transport_is_reliable((enum transport)transport),
		.poll_memory = p->spec->verb == VERB_WRITE && mem_is_visible(p->spec->mem),
		.passive_idle = !two_sided,
		.can_wait = p->channel != NULL,
		.in_turn = p->spec->use_ece,
	};
}

static uint8_t clamp_u8(int value)
{
	return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value;
}

static void set_own(struct ib_ep *ep)
{
	const struct ib_port *p = ib_ep_port(ep);
	uint8_t most = clamp_u8(p->dev.max_qp_init_rd_atom);
	uint64_t asked = ib_knob(p->spec->max_rd_atomic, most);

	ep->own = (struct ib_addr){
		.link_layer = p->attr.link_layer,
		.gid_type = (uint8_t)p->gid.gid_type,
		.mtu = (uint8_t)p->attr.active_mtu,
		.rd_init = asked < most ? (uint8_t)asked : most,
		.rd_resp = clamp_u8(p->dev.max_qp_rd_atom),
		.lid = p->attr.lid,
		.gid_index = p->gid.gid_index,
		.qpn = ep->qp->qp_num,
		.target_qpn = ep->target ? ep->target->qp_num : ep->qp->qp_num,
		.psn = (uint32_t)ib_knob(p->spec->start_psn, 0), /* rdma_cm replaces it */
		.qkey = ib_qp_key(p),
		.rkey = ep->conf.region->mr->rkey,
		.rx_slots = ep->conf.rx_slots,
		.stride = ep->conf.stride,
		.rx_addr = ep->conf.mem->base + ep->conf.rx_offset,
	};
	memcpy(ep->own.gid, p->gid.gid.raw, sizeof(ep->own.gid));
	strncpy(ep->own.device, p->name, sizeof(ep->own.device) - 1);
	ib_cm_addr(p, &ep->own);
}

static int ib_ep_open(struct port *port, const struct ep_conf *conf, struct ep **ret, struct error *err)
{
	struct ib_port *p = ib_port_of(port);
	struct ib_ep *ep;
	int rc;

	if (conf->index >= p->spec->qps)
		return error_set(err, -EINVAL, "queue pair %u of %llu", conf->index, (unsigned long long)p->spec->qps);
	ep = &p->eps[conf->index];
	ep->ep = (struct ep){ .port = port, .index = conf->index };
	ep->conf = *conf;
	rc = ib_qp_open(ep, err);
	if (rc) {
		driver_ibv.ep_close(&ep->ep);
		return rc;
	}
	set_own(ep);
	*ret = &ep->ep;
	if (ep->srq && ibv_get_srq_num(ep->srq, &ep->own.srqn))
		return error_set(err, -EIO,
				 "RDMA device %s does not tell the number of a receive queue (ibv_get_srq_num)",
				 p->name);
	return p->spec->use_ece ? ib_ece_query(ep, err) : 0;
}

static int ib_ep_addr(struct ep *base, struct buf *to, struct error *err)
{
	(void)err;
	ib_addr_pack(&ib_ep_of(base)->own, to);
	return 0;
}

/* The peer's endpoint makes an offer; this one's address will be the answer. */
static int ib_ep_offer(struct ep *base, struct cursor *from, struct error *err)
{
	struct ib_ep *ep = ib_ep_of(base);
	int rc = ib_addr_unpack(&ep->peer, from, err);

	ep->answers = true;
	return rc ? rc : ib_ece_answer(ep, err);
}

static int ib_ep_connect(struct ep *base, struct cursor *from, int64_t deadline_ns, struct error *err)
{
	struct ib_ep *ep = ib_ep_of(base);
	int rc = ib_addr_unpack(&ep->peer, from, err);

	if (!rc && ib_ep_port(ep)->spec->use_ece && !ep->answers)
		rc = ib_ece_accept(ep, err);
	if (!rc)
		rc = ib_qp_connect(ep, deadline_ns, err);
	ep->connected = !rc;
	return rc;
}

static void ib_ep_close(struct ep *base)
{
	struct ib_ep *ep = ib_ep_of(base);

	if (!ep)
		return;
	if (ep->qp)
		ib_kept(ib_ep_port(ep), ibv_destroy_qp(ep->qp), "ibv_destroy_qp", "a queue pair");
	ib_xrc_ep_close(ep);
	ep->qp = NULL;
	ep->qpx = NULL;
	ep->connected = false;
	free(ep->tx);
	free(ep->rx);
	ep->tx = NULL;
	ep->rx = NULL;
}

static int ib_ep_cut(struct ep *base, const struct ep_conf *conf, struct error *err)
{
	struct ib_ep *ep = ib_ep_of(base);

	(void)err;
	ep->peer.rx_addr += conf->rx_offset - ep->conf.rx_offset; /* both regions are cut alike */
	ep->peer.rx_slots = conf->rx_slots;
	ep->peer.stride = conf->stride;
	ep->conf = *conf;
	ep->bad = 0;
	return 0;
}

static uint8_t *ib_tx_slot_data(struct ep *base)
{
	const struct ib_ep *ep = ib_ep_of(base);

	return ep->tx && ep->conf.mem->data ? (uint8_t *)(uintptr_t)ep->tx[ep->tx_head].sge.addr : NULL;
}

static uint8_t *ib_rx_slot_data(struct ep *base)
{
	const struct ib_ep *ep = ib_ep_of(base);

	if (!ep->conf.mem->data)
		return NULL;
	return ep->conf.mem->data + ep->conf.rx_offset + (size_t)ep->rx_slot * ep->conf.stride;
}

static void ib_counters(const struct ep *base, struct counters *ret)
{
	const struct ib_ep *ep = (const struct ib_ep *)base;

	*ret = (struct counters){ .bad = ep->bad, .shortfall = ep->shortfall };
}

const struct driver driver_ibv = {
	.name = "ibv",
	.kind = DRIVER_IBV,
	.has_device = ib_dev_exists,
	.message_max = ib_dev_message,
	.open = ib_open,
	.caps = ib_caps,
	.facts = ib_port_facts,
	.close = ib_close,
	.reg = ib_mem_reg,
	.unreg = ib_mem_unreg,
	.ep_open = ib_ep_open,
	.ep_addr = ib_ep_addr,
	.ep_offer = ib_ep_offer,
	.ep_connect = ib_ep_connect,
	.ep_close = ib_ep_close,
	.ep_cut = ib_ep_cut,
	.prepare = ib_ring_prepare,
	.tx_slot = ib_tx_slot_data,
	.rx_slot = ib_rx_slot_data,
	.post = ib_ring_post,
	.post_rx = ib_ring_post_rx,
	.finish = driver_no_half,
	.poll = ib_port_poll,
	.wait = ib_port_wait,
	.counters = ib_counters,
};
