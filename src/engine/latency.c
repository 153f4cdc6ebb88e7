/* Latency: one message under way at a time; the reply (or the completion) ends the sample. */
#include "engine/latency.h"
#include "base/hist.h"
#include "engine/bandwidth.h"
#include "engine/engine.h"

#include <errno.h>
#include <string.h>

#define LOST_AFTER_NS  100000000LL /* unreliable transports: a reply that took longer is given up */
#define PATIENCE_TURNS 4096u /* turns without a reply until the clock and the completion queue are looked at */

/* How the end of a sample shows. */
enum style {
	STYLE_COMPLETION, /* own completion: read, atomics, one way */
	STYLE_RECEIVE, /* a receive completion: send, write_imm, sockets, null */
	STYLE_MEMORY, /* the last bytes of the peer's write */
	STYLE_DEVICE, /* the device made and timed the round trip by itself, and counts it */
};

static enum style style_of(const struct flow *flow)
{
	enum verb verb = (enum verb)flow->spec->verb;

	if (!latency_is_ping_pong(flow->spec))
		return STYLE_COMPLETION;
	if (flow->caps.times_trips)
		return STYLE_DEVICE;
	if (verb == VERB_WRITE && flow->caps.poll_memory)
		return STYLE_MEMORY;
	return STYLE_RECEIVE;
}

/*
 * A write's marker is its number modulo 256 in its last byte, which arrives last. Only one message is under way, so
 * that the byte that stood there before always differs.
 */
static void marker_write(const struct flow *flow, const struct flow_ep *fep)
{
	*(volatile uint8_t *)(flow->drv->tx_slot(fep->ep) + flow->spec->size - 1) = fep->marker;
}

/* The active side waits for its own number to come back, the passive one for any new number, which it adopts. */
static bool marker_arrived(const struct flow *flow, struct flow_ep *fep, const volatile uint8_t *last)
{
	uint8_t value = *last;

	if (flow->active ? value != fep->marker : value == fep->marker)
		return false;
	atomic_thread_fence(memory_order_acquire);
	fep->marker = value;
	return true;
}

/* What a side waits for: the next message on one endpoint. */
struct wait {
	enum style style;
	struct flow_ep *fep;
	const uint8_t *last; /* STYLE_MEMORY: last byte of the slot */
	uint64_t received; /* STYLE_RECEIVE: the endpoint's count that ends the wait */
};

static void wait_init(struct wait *w, const struct flow *flow, struct flow_ep *fep, enum style style, uint64_t received)
{
	w->style = style;
	w->fep = fep;
	w->received = received;
	w->last = style == STYLE_MEMORY ? flow->drv->rx_slot(fep->ep) + flow->spec->size - 1 : NULL;
}

/* Looks once: 1 = arrived, 0 = not yet, negative errno. */
static inline int wait_look(struct flow *flow, const struct wait *w)
{
	int rc;

	if (w->style == STYLE_MEMORY)
		return marker_arrived(flow, w->fep, w->last);
	rc = flow_pump(flow);
	if (rc < 0)
		return rc;
	if (w->style == STYLE_DEVICE)
		return flow->drv->trips(w->fep->ep, &(int64_t){ 0 }) >= w->received;
	return w->style == STYLE_COMPLETION ? w->fep->outstanding == 0 : w->fep->received >= w->received;
}

/* When the message takes long: errors in the completion queue of a memory poller, the core of a shared one. */
static int wait_slow(struct flow *flow, const struct wait *w)
{
	int rc = w->style == STYLE_MEMORY ? flow_pump(flow) : 0;

	if (rc < 0 || flow->block)
		return rc;
	return flow_idle_wait(flow, clock_now(flow->clock));
}

static int post_one(struct flow *flow, struct flow_ep *fep)
{
	int rc;

	while ((rc = flow->drv->post(fep->ep, 1, 0)) == 0) {
		rc = flow_pump(flow);
		if (rc < 0)
			return rc;
		if (rc == 0 && flow->block && (rc = flow_idle_wait(flow, clock_now(flow->clock))) < 0)
			return rc;
		if (flow_command(flow) >= (flow->active ? FLOW_STOP : FLOW_FINISH))
			return 0;
	}
	if (rc < 0)
		return flow_fail(flow);
	fep->outstanding++;
	fep->posted++;
	fep->tail_signalled = false;
	return 1;
}

/* Reaps own completions before the send queue could fill up; outside the sample. */
static int reap(struct flow *flow, struct flow_ep *fep)
{
	int rc = 0;

	while (rc >= 0 && fep->outstanding >= flow->spec->tx_depth && flow_command(flow) != FLOW_ABORT)
		rc = flow_pump(flow);
	return rc < 0 ? rc : 0;
}

static int64_t give_up_at(const struct flow *flow, int64_t now)
{
	return transport_is_reliable(flow->spec->transport) ? INT64_MAX : now + LOST_AFTER_NS;
}

/* Looks until something arrived or patience ends; a blocking flow sleeps before it looks. */
static inline int look_patiently(struct flow *flow, const struct wait *w)
{
	int rc = 0;

	if (flow->block && (rc = flow_idle_wait(flow, clock_now(flow->clock))) < 0)
		return rc;
	for (unsigned i = flow->block || flow->yield ? 1 : PATIENCE_TURNS; i > 0 && rc == 0; i--)
		rc = wait_look(flow, w);
	return rc;
}

/* Waits for the reply of a message posted at t0: 1 = arrived, 0 = lost or told to stop, negative errno. */
static int await_reply(struct flow *flow, const struct wait *w, int64_t t0)
{
	const int64_t limit = give_up_at(flow, t0);

	for (;;) {
		int rc = look_patiently(flow, w);

		if (rc)
			return rc;
		if (clock_now(flow->clock) > limit || flow_stopped(flow))
			return wait_look(flow, w);
		rc = wait_slow(flow, w);
		if (rc < 0)
			return rc;
	}
}

/* A reply that comes after it was given up must not end the next sample: takes what still arrives for a while. */
static int settle(struct flow *flow)
{
	int64_t until = clock_now(flow->clock) + LOST_AFTER_NS;

	if (flow->meter.state == METER_OPEN && flow->phase.measure)
		flow->result->timeouts++;
	while (clock_now(flow->clock) < until && flow_command(flow) == FLOW_RUN) {
		int rc = flow_pump(flow);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static void book_sample(struct flow *flow, struct flow_ep *fep, enum style style, int64_t ns)
{
	if (style == STYLE_DEVICE)
		ns = flow_count_trips(flow, fep);
	if (style == STYLE_MEMORY)
		flow_count(flow, fep, 1);
	if (fep->left != UINT64_MAX)
		fep->left--;
	if (flow->meter.state == METER_OPEN && flow->phase.measure)
		hist_record(flow->result->hist, (uint64_t)ns);
}

/* One message and its reply. */
static int sample(struct flow *flow, struct flow_ep *fep, enum style style)
{
	struct wait w;
	int64_t t0, t1;
	int rc;

	if (style == STYLE_MEMORY) {
		fep->marker++;
		marker_write(flow, fep);
	}
	wait_init(&w, flow, fep, style, fep->received + 1);
	t0 = clock_now(flow->clock);
	rc = post_one(flow, fep);
	if (rc > 0)
		rc = await_reply(flow, &w, t0);
	if (rc < 0)
		return rc;
	t1 = clock_now(flow->clock);
	if (rc > 0)
		book_sample(flow, fep, style, t1 - t0);
	else if (flow_command(flow) == FLOW_RUN && (rc = settle(flow)) < 0)
		return rc;
	rc = reap(flow, fep);
	if (rc < 0)
		return rc;
	return meter_check(flow);
}

/* The next endpoint in turn that has messages left; false when none has. */
static bool next_left(const struct flow *flow, uint32_t *at)
{
	for (uint32_t tried = 0; tried < flow->qps; tried++) {
		*at = *at + 1 == flow->qps ? 0 : *at + 1;
		if (flow->eps[*at].left)
			return true;
	}
	return false;
}

static int latency_active(struct flow *flow)
{
	const enum style style = style_of(flow);
	uint32_t i = 0;
	int rc;

	/* Answers to what drained the phase before must not end a sample of this one; the passive side sends nothing unasked. */
	do
		rc = flow_pump(flow);
	while (rc > 0);
	for (uint32_t at = 0; style == STYLE_DEVICE && at < flow->qps; at++)
		flow_count_trips(flow, &flow->eps[at]);
	while (rc >= 0 && !flow->over) {
		rc = sample(flow, &flow->eps[i], style);
		if (rc < 0)
			break;
		if (!next_left(flow, &i))
			meter_close(flow, clock_now(flow->clock));
	}
	return rc < 0 ? rc : flow_drain(flow);
}

static bool has_message(const struct flow *flow, struct flow_ep *fep, enum style style)
{
	if (style == STYLE_MEMORY)
		return marker_arrived(flow, fep, flow->drv->rx_slot(fep->ep) + flow->spec->size - 1);
	return fep->received != fep->answered;
}

/* Messages come to the endpoints in turn, but behind one that was lost the next one is on another. */
static bool look_elsewhere(const struct flow *flow, enum style style, uint32_t *at)
{
	for (uint32_t tried = 1; tried < flow->qps; tried++) {
		const uint32_t i = (*at + tried) % flow->qps;

		if (!has_message(flow, &flow->eps[i], style))
			continue;
		*at = i;
		return true;
	}
	return false;
}

/* Waits for the next message, on endpoint *at if none was lost: 1 = arrived on *at, 0 = the active side is done, negative errno. */
static int await_message(struct flow *flow, enum style style, uint32_t *at)
{
	struct wait w;

	wait_init(&w, flow, &flow->eps[*at], style, flow->eps[*at].answered + 1);
	for (;;) {
		int rc = look_patiently(flow, &w);

		if (rc)
			return rc;
		if (look_elsewhere(flow, style, at))
			return 1;
		if (flow_command(flow) >= FLOW_FINISH)
			return 0;
		rc = wait_slow(flow, &w);
		if (rc >= 0)
			rc = meter_check(flow);
		if (rc < 0)
			return rc;
	}
}

static int echo(struct flow *flow, struct flow_ep *fep, enum style style)
{
	int rc;

	if (style == STYLE_MEMORY) {
		flow_count(flow, fep, 1);
		marker_write(flow, fep);
	}
	fep->answered++;
	rc = post_one(flow, fep);
	if (rc < 0)
		return rc;
	rc = reap(flow, fep);
	if (rc < 0)
		return rc;
	return meter_check(flow);
}

static int latency_passive(struct flow *flow)
{
	const enum style style = style_of(flow);
	uint32_t i = 0;

	if (style == STYLE_COMPLETION) /* it only takes the messages */
		return engine_bandwidth.passive(flow);
	if (style == STYLE_DEVICE)
		return flow_attend_trips(flow);
	for (uint32_t at = 0; at < flow->qps; at++)
		flow->eps[at].answered = flow->eps[at].received;
	for (;;) {
		int rc = await_message(flow, style, &i);

		if (rc > 0)
			rc = echo(flow, &flow->eps[i], style);
		else if (rc == 0)
			break;
		if (rc < 0)
			return rc;
		i = i + 1 == flow->qps ? 0 : i + 1;
	}
	meter_close(flow, clock_now(flow->clock));
	return flow_drain(flow);
}

static int latency_prepare(struct flow *flow)
{
	const struct spec *spec = flow->spec;
	const enum style style = style_of(flow);
	const struct work tx = flow_work(flow, WORK_TX, 1), rx = flow_work(flow, WORK_RX, (uint32_t)spec->rx_depth);
	const bool takes = style == STYLE_RECEIVE || (!flow->active && verb_is_two_sided((enum verb)spec->verb));

	for (uint32_t i = 0; i < flow->qps; i++) {
		struct flow_ep *fep = &flow->eps[i];
		int rc = flow->drv->prepare(fep->ep, &tx, &flow->error);

		if (rc < 0)
			return rc;
		if (style == STYLE_MEMORY) /* what a test before left there is no message */
			flow->drv->rx_slot(fep->ep)[spec->size - 1] = fep->marker;
		if (!takes)
			continue;
		rc = flow->drv->prepare(fep->ep, &rx, &flow->error);
		if (rc < 0)
			return rc;
		rc = flow_repost(flow, fep);
		if (rc < 0)
			return rc;
	}
	return 0;
}

const struct engine engine_latency = {
	.metric = METRIC_LAT,
	.prepare = latency_prepare,
	.active = latency_active,
	.passive = latency_passive,
	.turn = flow_pump,
};
