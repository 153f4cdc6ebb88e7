/* The null device: no network, but programmed latency, rate and loss; its set-up and its row in the list of drivers. */
#include "driver/null.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/pages.h"
#include "base/units.h"
#include "driver/seq.h"
#include "mem/mem.h"
#include "spec/result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE_S 5 /* what is under way at the end must leave in time */

static bool null_has_device(const char *name)
{
	return name[0] == 0;
}

static void null_close(struct port *base)
{
	struct null_port *port = (struct null_port *)base;

	if (!port)
		return;
	null_wire_close(port->wire);
	free(port->runs);
	free(port->eps);
	free(port);
}

/* For any of the port's tests. */
static bool rate_too_low(const struct port_conf *conf)
{
	const struct spec *test;

	for (unsigned i = 0; (test = port_test(conf, i)); i++) {
		const double bits = (double)(test->size * 8 * test->tx_depth * conf->workers);
		const double jitter = (double)test->null_jitter_ns / 1e9 * (double)test->tx_depth;

		if ((test->null_rate ? bits / (double)test->null_rate : 0) + jitter > QUEUE_S)
			return true;
	}
	return false;
}

static bool make_rings(struct null_port *port, const struct spec *spec)
{
	port->runs = calloc(NULL_RUNS, sizeof(port->runs[0]));
	port->eps = calloc(spec->qps, sizeof(*port->eps));
	if (!port->runs || !port->eps)
		return false;
	if (spec_bursts(spec)) /* none of its pages is to come in the instant of a burst */
		pages_touch(port->runs, NULL_RUNS * sizeof(port->runs[0]));
	return true;
}

static int null_open(const struct port_conf *conf, struct port **ret, struct error *err)
{
	const struct spec *spec = conf->spec;
	struct null_port *port = calloc(1, sizeof(*port));

	if (!port)
		return error_set(err, -ENOMEM, "no memory for a null device");
	port->base.drv = &driver_null;
	port->epoch_ns = clock_now(conf->clock);
	memcpy((void *)(uintptr_t)&port->conf, conf, sizeof(*conf));
	if (!make_rings(port, spec)) {
		null_close(&port->base);
		return error_set(err, -ENOMEM, "no memory for a null device");
	}
	port->delay = null_fixed(spec->null_latency_ns);
	port->true_time = spec->metric == METRIC_LAT || spec_is_paced(spec) || spec_bursts(spec);
	if (rate_too_low(conf)) {
		null_close(&port->base);
		return error_set(err, -EINVAL,
				 "--null_rate is so low, or --null_jitter so long, that the messages outstanding take "
				 "longer than %d s: ask for fewer "
				 "(-t), smaller ones (-s) or a faster link",
				 QUEUE_S);
	}
	port->echo = spec->metric == METRIC_LAT && latency_is_ping_pong(spec);
	port->counts = spec->metric == METRIC_BW && (spec->null_loss > 0 || verb_is_two_sided((enum verb)spec->verb));
	port->tells = port->counts && port_sends(conf);
	port->told_of = port->counts && port_receives(conf);
	*ret = &port->base;
	return 0;
}

static void null_caps(const struct port *base, struct caps *ret)
{
	const struct null_port *port = (const struct null_port *)base;

	*ret = (struct caps){ .max_size = 1u << 30,
			      .max_tx_depth = NULL_RUNS / 2,
			      .max_rx_depth = NULL_RUNS,
			      .max_qps = 16384,
			      .stride_align = 64,
			      .moves_nothing = true,
			      .delivery = port->conf.spec->null_loss <= 0,
			      .passive_idle = !port->counts,
			      .no_peer = !port->counts,
			      .counts_loss = port->counts };
}

static void null_facts(const struct port *base, struct facts *ret)
{
	const struct null_port *port = (const struct null_port *)base;
	const struct spec *spec = port->conf.spec;
	char text[UNITS_TEXT];

	facts_add(ret, "device", "Device", "null (arithmetic on the clock, no network)");
	facts_add(ret, "nullLatency", "Programmed latency", "%s", units_format_time(spec->null_latency_ns, text));
	facts_add(ret, "nullRate", "Programmed rate, bit/s", "%s",
		  spec->null_rate ? units_format_rate(spec->null_rate, text) : "without limit");
	facts_add(ret, "nullJitter", "Programmed jitter", "%s", units_format_time(spec->null_jitter_ns, text));
	if (spec->null_delay_ns && port->conf.first)
		facts_add(ret, "nullDelay", "Programmed delay", "%s each %llu posts",
			  units_format_time(spec->null_delay_ns, text), (unsigned long long)spec->null_delay_every);
	facts_add(ret, "nullLoss", "Programmed loss", "%g", spec->null_loss);
}

static int null_ep_open(struct port *base, const struct ep_conf *conf, struct ep **ret, struct error *err)
{
	struct null_port *port = (struct null_port *)base;
	struct null_ep *ep = calloc(1, sizeof(*ep));

	if (!ep)
		return error_set(err, -ENOMEM, "no memory for a null endpoint");
	ep->base.port = base;
	ep->base.index = conf->index;
	ep->tx = conf->mem->data + conf->tx_offset;
	ep->rx = conf->mem->data + conf->rx_offset;
	port->eps[conf->index] = ep;
	if (conf->index >= port->ep_count)
		port->ep_count = conf->index + 1;
	*ret = &ep->base;
	if (port->counts && !port->conf.active && !port->wire)
		return null_wire_listen(&port->conf, &port->wire, err);
	return 0;
}

static int null_ep_addr(struct ep *ep, struct buf *to, struct error *err)
{
	const struct null_port *port = null_port(ep);

	(void)err;
	if (port->wire && !port->conf.active)
		null_wire_address(port->wire, to);
	return 0;
}

/* One wire serves all endpoints of a port: the first one brings it up. */
static int null_ep_connect(struct ep *ep, struct cursor *peer, int64_t deadline_ns, struct error *err)
{
	struct null_port *port = null_port(ep);

	if (!port->counts || ep->index != 0)
		return 0;
	if (port->conf.active)
		return null_wire_connect(&port->conf, peer, deadline_ns, &port->wire, err);
	return null_wire_accept(port->wire, deadline_ns, err);
}

static void null_ep_close(struct ep *ep)
{
	struct null_port *port = null_port(ep);

	port->eps[ep->index] = NULL;
	free(ep);
}

static int null_ep_cut(struct ep *base, const struct ep_conf *conf, struct error *err)
{
	struct null_ep *ep = (struct null_ep *)base;

	(void)err;
	ep->tx = conf->mem->data + conf->tx_offset;
	ep->rx = conf->mem->data + conf->rx_offset;
	return 0;
}

static int null_prepare(struct ep *base, const struct work *work, struct error *err)
{
	struct null_ep *ep = (struct null_ep *)base;
	struct null_port *port = null_port(base);
	const struct spec *spec = port->conf.spec;

	(void)work;
	(void)err;
	port->step = 0;
	if (spec->null_rate)
		port->step = (uint64_t)((double)spec->size * 8e9 * (double)port->conf.workers /
						(double)spec->null_rate * (double)(1 << FRACTION_BITS) +
					0.5);
	port->jitter = (double)null_fixed(spec->null_jitter_ns);
	lot_init(&port->lot, spec->seed, 2 * (uint64_t)port->conf.worker + 1);
	port->instant = !port->delay && !port->step && !spec->null_jitter_ns;
	port->posts = 0;
	port->delays = port->conf.first && spec->null_delay_ns > 0;
	ep->next = ep->told = ep->due = 0;
	memset(&ep->seq, 0, sizeof(ep->seq));
	return 0;
}

static uint8_t *null_tx_slot(struct ep *ep)
{
	return ((struct null_ep *)ep)->tx;
}

static uint8_t *null_rx_slot(struct ep *ep)
{
	return ((struct null_ep *)ep)->rx;
}

static void null_counters(const struct ep *base, struct counters *ret)
{
	const struct null_ep *ep = (const struct null_ep *)base;

	*ret = (struct counters){ .lost = ep->seq.lost,
				  .duplicated = ep->seq.duplicated,
				  .reordered = ep->seq.reordered };
}

const struct driver driver_null = {
	.name = "null",
	.kind = DRIVER_NULL,
	.has_device = null_has_device,
	.message_max = driver_no_message,
	.open = null_open,
	.caps = null_caps,
	.facts = null_facts,
	.nic = driver_no_nic,
	.close = null_close,
	.reg = driver_no_reg,
	.unreg = driver_no_unreg,
	.ep_open = null_ep_open,
	.ep_addr = null_ep_addr,
	.ep_connect = null_ep_connect,
	.ep_close = null_ep_close,
	.ep_cut = null_ep_cut,
	.prepare = null_prepare,
	.tx_slot = null_tx_slot,
	.rx_slot = null_rx_slot,
	.post = null_post,
	.post_rx = null_post_rx,
	.finish = driver_no_half,
	.poll = null_poll,
	.wait = driver_no_wait,
	.counters = null_counters,
};
