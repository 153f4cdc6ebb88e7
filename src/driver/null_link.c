/* The null device's link: when a posted message completes, by arithmetic on the clock; what the receiver is told. */
#include "base/clock.h"
#include "driver/null.h"

#include <errno.h>
#include <inttypes.h>

#define WIRE_LAZY_NS 500000LL /* the passive side hears of what was sent at the latest after so long */

/* Since the port was opened. */
static uint64_t null_now(const struct null_port *port)
{
	return null_fixed(clock_now(port->conf.clock) - port->epoch_ns);
}

bool null_is_lost(uint64_t seed, uint32_t ep, uint64_t seq, double probability)
{
	uint64_t x = seed + ((uint64_t)ep << 40) + (seq + 1) * 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	x ^= x >> 31;
	return (double)(x >> 11) * 0x1p-53 < probability;
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

/* One message over a link that is free from *free on: when it has left. */
static uint64_t cross(struct null_port *port, uint64_t *free, uint64_t start)
{
	if (start < *free)
		start = *free;
	*free = start + port->step + (uint64_t)(port->jitter * lot_exponential(&port->lot));
	return *free;
}

/* Each message takes its own time on the link, its answer on the way back as well: a run for each. */
static int post_jittered(struct null_port *port, struct null_ep *ep, unsigned n, uint64_t start)
{
	const unsigned room = (NULL_RUNS - (port->tail - port->head)) / 2;

	n = n < room ? n : room;
	for (unsigned i = 0; i < n; i++) {
		const uint64_t there = cross(port, &port->link_free, start) + port->delay;

		push(port, ep, 1, DONE_TX, there);
		if (port->echo)
			push(port, ep, 1, DONE_RX, cross(port, &port->back_free, there) + port->delay);
	}
	return (int)n;
}

/*
 * The link sends one message after another; each takes `step` and arrives `latency` later. A post is taken to happen
 * when the completion that made room for it was due, not when the worker got round to it: a worker that lost its core
 * for a while finds the link as busy as it had left it, and the rate is exact however the host is scheduled. The
 * latency test posts at the true instant, as there nothing is queued behind; so does a schedule, whose messages wait for
 * the link and nobody for them, and the first post of a phase, before which the link was empty. What the device's own two clock reads (here, and in the poll that finds the completion) cost
 * is no latency of the link: one read is taken off.
 */
static int post_timed(struct null_port *port, struct null_ep *ep, unsigned n)
{
	uint64_t start = port->now, first;

	if (port->true_time || port->phase != port->base.phases) {
		start = null_now(port) - null_fixed(port->conf.clock->read_cost_ns);
		port->phase = port->base.phases;
		port->now = start;
	}
	if (port->jitter > 0)
		return post_jittered(port, ep, n, start);
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

/* A sender that is held up now and then: what it does to others, and whether the report shows it. */
static void hold_up(struct null_port *port)
{
	const struct spec *spec = port->conf.spec;
	const int64_t until = clock_now(port->conf.clock) + spec->null_delay_ns;

	if (port->posts++ % spec->null_delay_every)
		return;
	while (clock_now(port->conf.clock) < until)
		;
}

int null_post(struct ep *base, unsigned n, unsigned flags)
{
	struct null_ep *ep = (struct null_ep *)base;
	struct null_port *port = null_port(base);

	(void)flags;
	if (__builtin_expect(port->delays, 0))
		hold_up(port);
	if (port->open && port->open->ep == ep) {
		ep->next += n;
		port->open->count += n;
		return (int)n;
	}
	if (port->tail - port->head > NULL_RUNS - 2)
		return 0;
	n = (unsigned)(port->instant && !port->echo ? post_instant(port, ep, n) : post_timed(port, ep, n));
	ep->next += n;
	return (int)n;
}

int null_post_rx(struct ep *ep, unsigned n)
{
	(void)ep;
	return (int)n;
}

/* Tells the other side what has been sent since it was last told. */
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
		records[count].count = news < NULL_RECORD_MAX ? (uint32_t)news : NULL_RECORD_MAX;
		count++;
	}
	rc = null_wire_send(port->wire, records, count, &port->base.err);
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
 * A side that sends tells in time, and before it completes what may be the last messages of a test: 1 = completions may
 * be taken, 0 = not before the other side was told, negative errno.
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
	return !last || (all_told(port) && null_wire_flush(port->wire) > 0);
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

/*
 * With a latency or jitter one run at a time: what is posted next is posted when that run was due. Taken together with later runs it
 * would be posted when the last of them was, and the link would stand idle in between.
 */
static int poll_runs(struct null_port *port, struct done *done, int max)
{
	const int limit = port->true_time || (!port->delay && port->jitter <= 0) ? max : 1;
	uint64_t now = port->instant && !port->echo ? UINT64_MAX : null_now(port);
	int found = 0;

	while (found < limit && port->head != port->tail) {
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
	port->open = NULL;
	return found;
}

/* The two directions of an endpoint lose different messages. */
static uint32_t arrivals(struct null_port *port, struct null_ep *ep, const struct null_record *r)
{
	const struct spec *spec = port->conf.spec;
	const uint32_t line = port->conf.active ? r->ep + (uint32_t)spec->qps : r->ep;
	uint32_t n = 0;

	for (uint64_t seq = r->first; seq < r->first + r->count; seq++) {
		if (spec->null_loss > 0 && null_is_lost(spec->seed + port->conf.worker, line, seq, spec->null_loss))
			continue;
		seq_feed(&ep->seq, seq);
		n++;
	}
	return n;
}

/* What the other side may say: the next messages of one of the endpoints, and not too many at once. */
static int check_record(struct null_port *port, const struct null_record *r)
{
	const uint64_t due = r->ep < port->ep_count ? port->eps[r->ep]->due : 0;

	if (r->ep >= port->ep_count)
		return error_set(&port->base.err, -EPROTO, "the null device's wire names endpoint %u of %u", r->ep,
				 port->ep_count);
	if (r->first != due || !r->count || r->count > NULL_RECORD_MAX)
		return error_set(&port->base.err, -EPROTO,
				 "the null device's wire tells of %u messages from number %" PRIu64 " on where 1 to %u "
				 "from number %" PRIu64 " on may come",
				 r->count, r->first, NULL_RECORD_MAX, due);
	return 0;
}

static int poll_wire(struct null_port *port, struct done *done, int max)
{
	struct null_record records[NULL_RECORDS];
	int n = null_wire_receive(port->wire, records, max, &port->base.err);
	int found = 0, rc;

	for (int i = 0; i < n; i++) {
		struct null_ep *ep;
		uint32_t count;

		rc = check_record(port, &records[i]);
		if (rc < 0)
			return rc;
		ep = port->eps[records[i].ep];
		ep->due += records[i].count;
		count = arrivals(port, ep, &records[i]);
		if (count)
			done[found++] = (struct done){ .ep = &ep->base, .count = count, .kind = DONE_RX };
	}
	return n < 0 ? n : found;
}

int null_poll(struct port *base, struct done *done, int max)
{
	struct null_port *port = (struct null_port *)base;
	int taken = 0, rc = 1;

	if (port->told_of) { /* half of the room, so that neither direction waits for the other */
		taken = poll_wire(port, done, port->tells ? max / 2 : max);
		if (taken < 0 || !port->tells)
			return taken;
	}
	if (port->tells)
		rc = tell_lazily(port);
	if (rc < 0)
		return rc;
	return rc ? taken + poll_runs(port, done + taken, max - taken) : taken;
}
