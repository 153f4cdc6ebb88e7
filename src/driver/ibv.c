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

static int open_scratch(struct ib_port *p, struct error *err)
{
	errno = 0;
	p->scratch_mr = ibv_reg_mr(p->pd, p->scratch, sizeof(p->scratch), IBV_ACCESS_LOCAL_WRITE);
	if (!p->scratch_mr)
		return ib_fail(err, errno, "ibv_reg_mr", "RDMA device %s refuses memory for the headers of datagrams",
			       p->name);
	return 0;
}

void ib_close(struct port *port)
{
	struct ib_port *p = (struct ib_port *)port;

	if (!p)
		return;
	for (uint32_t i = 0; p->eps && i < p->spec->qps; i++)
		ib_ep_close(&p->eps[i].ep);
	ib_cm_close(p);
	if (p->ah)
		ib_kept(p, ibv_destroy_ah(p->ah), "ibv_destroy_ah", "an address handle");
	if (p->scratch_mr)
		ib_kept(p, ibv_dereg_mr(p->scratch_mr), "ibv_dereg_mr", "a memory region");
	ib_tph_close(p);
	ib_xrc_close(p);
	ib_dc_close(p);
	p->calls->close(p);
	if (p->context)
		ib_dev_close(p, p->context);
	free(p->eps);
	free(p);
}

/* What only one of the transports needs. */
static int open_transport(struct ib_port *p, struct error *err)
{
	switch (p->spec->transport) {
	case TRANSPORT_XRC:
		return ib_xrc_open(p, err);
	case TRANSPORT_DC:
		return ib_dc_open(p, err);
	case TRANSPORT_UD:
		return open_scratch(p, err);
	default:
		return 0;
	}
}

static int open_all(struct ib_port *p, struct error *err)
{
	int rc = ib_dev_open(p, err);

	if (!rc)
		rc = check_limits(p, err);
	if (!rc)
		rc = ib_pace_open(p, err);
	if (!rc)
		rc = ib_gid_setup(p, err);
	if (!rc)
		rc = p->calls->open(p, cq_entries(p), err);
	if (!rc)
		rc = open_transport(p, err);
	if (!rc)
		rc = ib_qp_probe(p, err);
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

int ib_open_port(struct ib_port *p, const struct port_conf *conf, struct port **ret, struct error *err)
{
	int rc;

	if (!p)
		return error_set(err, -ENOMEM, "no memory for an RDMA port");
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

static int ib_open(const struct port_conf *conf, struct port **ret, struct error *err)
{
	struct ib_port *p = calloc(1, sizeof(*p));

	if (p) {
		p->port.drv = &driver_ibv;
		p->calls = &ib_verbs_calls;
	}
	return ib_open_port(p, conf, ret, err);
}

void ib_caps(const struct port *port, struct caps *ret)
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
		.paces = p->pace.on,
	};
}

const struct driver driver_ibv = {
	.name = "ibv",
	.kind = DRIVER_IBV,
	.has_device = ib_dev_exists,
	.message_max = ib_dev_message,
	.open = ib_open,
	.caps = ib_caps,
	.facts = ib_port_facts,
	.nic = ib_port_nic,
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
	.tx_slot = ib_ep_tx_slot,
	.rx_slot = ib_ep_rx_slot,
	.post = ib_ring_post,
	.post_rx = ib_ring_post_rx,
	.finish = driver_no_half,
	.poll = ib_port_poll,
	.wait = ib_port_wait,
	.counters = ib_ep_counters,
};
