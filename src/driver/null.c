/* The null device: a link of programmed rate and latency that exists only as arithmetic on the clock. */
#include "driver/null.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/units.h"
#include "driver/seq.h"
#include "mem/mem.h"
#include "spec/result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NULL_RUNS     65536u /* posts that may wait for their completion, a power of two */
#define NULL_RECORDS  64
#define WIRE_LAZY_NS  500000LL /* the passive side hears of what was sent at the latest after so long */
#define PAUSE_NS      1000000LL
#define FRACTION_BITS 16 /* instants are ns in 48.16 fixed point: rates come out exact */

struct null_ep {
	struct ep base;
	uint8_t *tx, *rx;
	uint64_t next; /* number of the next message */
	uint64_t told; /* messages below this number were told to the passive side */
	struct seq seq; /* passive side */
};

/* Messages of one post that still wait: they complete one after another, `step` apart. */
struct null_run {
	struct null_ep *ep;
	uint32_t count;
	enum done_kind kind;
	uint64_t due; /* of the first, fixed point */
};

struct null_port {
	struct port base;
	const struct port_conf conf;
	bool instant; /* no rate and no latency: a message completes as soon as it is posted */
	bool latency_test; /* posts happen at the true instant: one message is under way at a time */
	bool echo; /* latency of a ping-pong: each message is answered by the device */
	bool counts; /* the passive side is told what was sent, and counts */
	uint64_t step; /* fixed point: time that one message occupies this port's share of the link */
	uint64_t delay; /* fixed point: the programmed latency */
	uint64_t link_free; /* fixed point: when the last accepted message has left */
	uint64_t now; /* fixed point: the device's idea of now, see post_timed */
	uint64_t polled; /* fixed point: true instant of the last poll */
	uint32_t head, tail; /* runs[head ... tail) wait */
	struct null_run *runs;
	struct null_run *open; /* instant: the run that the next post of its endpoint joins */
	struct null_ep **eps;
	uint32_t ep_count;
	int64_t told_ns;
	struct null_wire *wire;
};

static struct null_port *null_port(const struct ep *ep)
{
	return (struct null_port *)ep->port;
}

static uint64_t fixed(int64_t ns)
{
	return (uint64_t)ns << FRACTION_BITS;
}

bool null_is_lost(uint64_t seed, uint32_t ep, uint64_t seq, double probability)
{
	uint64_t x = seed + ((uint64_t)ep << 40) + (seq + 1) * 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	x ^= x >> 31;
	return (double)(x >> 11) * 0x1p-53 < probability;
}

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

static int null_open(const struct port_conf *conf, struct port **ret, struct error *err)
{
	const struct spec *spec = conf->spec;
	struct null_port *port = calloc(1, sizeof(*port));
	double bits = (double)spec->size * 8;

	if (!port)
		return error_set(err, -ENOMEM, "no memory for a null device");
	port->base.drv = &driver_null;
	memcpy((void *)(uintptr_t)&port->conf, conf, sizeof(*conf));
	port->runs = calloc(NULL_RUNS, sizeof(port->runs[0]));
	port->eps = calloc(spec->qps, sizeof(*port->eps));
	if (!port->runs || !port->eps) {
		null_close(&port->base);
		return error_set(err, -ENOMEM, "no memory for a null device");
	}
	port->delay = fixed(spec->null_latency_ns);
	port->latency_test = spec->metric == METRIC_LAT;
	if (spec->null_rate)
		port->step = (uint64_t)(bits * 1e9 * (double)conf->workers / (double)spec->null_rate *
						(double)(1 << FRACTION_BITS) +
					0.5);
	port->instant = !port->delay && !port->step;
	port->echo = spec->metric == METRIC_LAT && latency_is_halved(spec);
	port->counts = spec->metric == METRIC_BW && (spec->null_loss > 0 || verb_is_two_sided((enum verb)spec->verb));
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

static int null_prepare(struct ep *ep, const struct work *work, struct error *err)
{
	(void)ep;
	(void)work;
	(void)err;
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

static struct null_run *push(struct null_port *port, struct null_ep *ep, unsigned n, enum done_kind kind, uint64_t due)
{
	struct null_run *run = &port->runs[port->tail++ % NULL_RUNS];

	*run = (struct null_run){ .ep = ep, .count = n, .kind = kind, .due = due };
	return run;
}

/* With neither rate nor latency: completions of one endpoint in a row are one run, which stays open. */
static int post_instant(struct null_port *port, struct null_ep *ep, unsigned n)
{
	port->open = push(port, ep, n, DONE_TX, 0);
	return (int)n;
}

/*
 * The link sends one message after another; each takes `step` and arrives `latency` later. A post is taken to happen
 * when the completion that made room for it was due, not when the worker got round to it: a worker that lost its core
 * for a while finds the link as busy as it had left it, and the rate is exact however the host is scheduled. The
 * latency test posts at the true instant, as there nothing is queued behind; so does a worker that comes back to an
 * empty link after a pause of its own (between two phases). What the device's own two clock reads (here, and in the poll
 * that finds the completion) cost is no latency of the link: one read is taken off.
 */
static bool is_pause(const struct null_port *port, uint64_t true_now)
{
	return port->head == port->tail && true_now - port->polled > fixed(PAUSE_NS);
}

static int post_timed(struct null_port *port, struct null_ep *ep, unsigned n)
{
	uint64_t start = port->now, first;

	if (port->latency_test || !start || port->head == port->tail) {
		uint64_t true_now = fixed(clock_now(port->conf.clock) - port->conf.clock->read_cost_ns);

		if (port->latency_test || !start || is_pause(port, true_now))
			start = true_now;
	}
	if (start < port->link_free)
		start = port->link_free;
	port->link_free = start + n * port->step;
	first = start + port->step + port->delay;
	if (port->echo) {
		push(port, ep, n, DONE_TX, first);
		push(port, ep, n, DONE_RX, first + port->step + port->delay);
	} else {
		push(port, ep, n, DONE_TX, first);
	}
	return (int)n;
}

static int null_post(struct ep *base, unsigned n, unsigned flags)
{
	struct null_ep *ep = (struct null_ep *)base;
	struct null_port *port = null_port(base);

	(void)flags;
	if (port->open && port->open->ep == ep) {
		ep->next += n;
		port->open->count += n;
		return (int)n;
	}
	if (port->tail - port->head > NULL_RUNS - 2)
		return 0;
	ep->next += n;
	if (port->instant && !port->echo)
		return post_instant(port, ep, n);
	return post_timed(port, ep, n);
}

static int null_post_rx(struct ep *ep, unsigned n)
{
	(void)ep;
	return (int)n;
}

/* Tells the passive side what has been sent since it was last told. */
static int tell(struct null_port *port)
{
	struct null_record records[NULL_RECORDS];
	int count = 0, rc;

	for (uint32_t i = 0; i < port->ep_count && count < NULL_RECORDS; i++) {
		struct null_ep *ep = port->eps[i];
		uint64_t news = ep->next - ep->told;

		if (!news)
			continue;
		records[count].ep = i;
		records[count].first = ep->told;
		records[count].count = news < 1u << 20 ? (uint32_t)news : 1u << 20;
		count++;
	}
	rc = count ? null_wire_send(port->wire, records, count, &port->base.err) : 0;
	for (int i = 0; i < rc; i++)
		port->eps[records[i].ep]->told += records[i].count;
	return rc < 0 ? rc : 0;
}

static bool all_told(const struct null_port *port)
{
	for (uint32_t i = 0; i < port->ep_count; i++) {
		if (port->eps[i]->told != port->eps[i]->next)
			return false;
	}
	return true;
}

/*
 * The active side tells in time, and before it completes what may be the last messages of a test: 1 = completions may
 * be taken, 0 = not before the passive side was told, negative errno.
 */
static int tell_lazily(struct null_port *port)
{
	int64_t now = clock_now(port->conf.clock);
	bool last = port->tail - port->head <= 1;
	int rc;

	if (!last && now - port->told_ns < WIRE_LAZY_NS)
		return 1;
	port->told_ns = now;
	rc = tell(port);
	if (rc < 0)
		return rc;
	return !last || all_told(port);
}

/* Messages of the oldest run that are due. */
static uint32_t due_count(const struct null_port *port, const struct null_run *run, uint64_t now)
{
	uint64_t n;

	if (run->due > now)
		return 0;
	if (!port->step)
		return run->count;
	n = (now - run->due) / port->step + 1;
	return n < run->count ? (uint32_t)n : run->count;
}

static int poll_runs(struct null_port *port, struct done *done, int max)
{
	uint64_t now = port->instant && !port->echo ? UINT64_MAX : fixed(clock_now(port->conf.clock));
	int found = 0;

	while (found < max && port->head != port->tail) {
		struct null_run *run = &port->runs[port->head % NULL_RUNS];
		uint32_t n = due_count(port, run, now);

		if (!n)
			break;
		port->now = run->due + (n - 1) * port->step;
		done[found++] = (struct done){ .ep = &run->ep->base, .count = n, .kind = run->kind };
		run->count -= n;
		run->due += n * port->step;
		if (run->count)
			break;
		port->head++;
	}
	port->polled = now;
	port->open = NULL;
	return found;
}

static uint32_t arrivals(struct null_port *port, struct null_ep *ep, const struct null_record *r)
{
	const struct spec *spec = port->conf.spec;
	uint32_t n = 0;

	for (uint64_t seq = r->first; seq < r->first + r->count; seq++) {
		if (spec->null_loss > 0 && null_is_lost(spec->seed + port->conf.worker, r->ep, seq, spec->null_loss))
			continue;
		seq_feed(&ep->seq, seq);
		n++;
	}
	return n;
}

static int poll_wire(struct null_port *port, struct done *done, int max)
{
	struct null_record records[NULL_RECORDS];
	int n = null_wire_receive(port->wire, records, max < NULL_RECORDS ? max : NULL_RECORDS, &port->base.err);
	int found = 0;

	for (int i = 0; i < n; i++) {
		struct null_ep *ep;
		uint32_t count;

		if (records[i].ep >= port->ep_count)
			return error_set(&port->base.err, -EPROTO, "the null device's wire names endpoint %u of %u",
					 records[i].ep, port->ep_count);
		ep = port->eps[records[i].ep];
		count = arrivals(port, ep, &records[i]);
		if (count)
			done[found++] = (struct done){ .ep = &ep->base, .count = count, .kind = DONE_RX };
	}
	return n < 0 ? n : found;
}

static int null_poll(struct port *base, struct done *done, int max)
{
	struct null_port *port = (struct null_port *)base;

	if (port->counts) {
		int rc = port->conf.active ? tell_lazily(port) : poll_wire(port, done, max);

		if (rc <= 0 || !port->conf.active)
			return rc;
	}
	return poll_runs(port, done, max);
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
	.help = "no network: completes by a programmed latency, rate and loss",
	.kind = DRIVER_NULL,
	.has_device = null_has_device,
	.open = null_open,
	.caps = null_caps,
	.facts = null_facts,
	.close = null_close,
	.reg = driver_no_reg,
	.unreg = driver_no_unreg,
	.ep_open = null_ep_open,
	.ep_addr = null_ep_addr,
	.ep_connect = null_ep_connect,
	.ep_close = null_ep_close,
	.prepare = null_prepare,
	.tx_slot = null_tx_slot,
	.rx_slot = null_rx_slot,
	.post = null_post,
	.post_rx = null_post_rx,
	.poll = null_poll,
	.wait = driver_no_wait,
	.counters = null_counters,
};
