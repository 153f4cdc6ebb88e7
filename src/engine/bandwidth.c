/* Bandwidth and message rate: keeps tx_depth messages in flight on every endpoint and counts what completes. */
#include "engine/bandwidth.h"
#include "engine/engine.h"

#include <errno.h>

#define SPINS      15u /* the clock is read every 16th turn of a polling loop, */
#define LARGE_TURN 262144u /* every turn when it posts so many bytes: they take longer than reading it */

/* Posts on one endpoint until its window or quota is used up or the driver is full. */
static inline int post_room(struct flow *flow, struct flow_ep *fep, uint32_t batch, uint32_t depth)
{
	int (*const post)(struct ep *, unsigned, unsigned) = flow->drv->post;

	for (;;) {
		uint32_t n = fep->left < batch ? (uint32_t)fep->left : batch;
		int rc;

		if (n == 0 || depth - fep->outstanding < n)
			return 0;
		rc = post(fep->ep, n, n == fep->left ? POST_LAST : 0);
		if (__builtin_expect(rc <= 0, 0)) {
			flow->kick |= rc == 0;
			return rc < 0 ? flow_fail(flow) : 0;
		}
		fep->outstanding += (uint32_t)rc;
		fep->posted += (uint32_t)rc;
		if (fep->left != UINT64_MAX)
			fep->left -= (uint32_t)rc;
		fep->tail_signalled = fep->left == 0;
		if ((uint32_t)rc < n) {
			flow->kick = true;
			return 0;
		}
	}
}

struct shape { /* the spec's numbers as the loop uses them */
	uint32_t batch, depth;
};

static struct shape shape_of(const struct flow *flow)
{
	const struct spec *spec = flow->spec;

	return (struct shape){ .batch = (uint32_t)spec->post_batch, .depth = (uint32_t)spec->tx_depth };
}

static int post_everywhere(struct flow *flow, const struct shape *s)
{
	flow->kick = false;
	for (uint32_t i = 0; i < flow->qps; i++) {
		int rc = post_room(flow, &flow->eps[i], s->batch, s->depth);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static inline int sent(struct flow *flow, struct flow_ep *fep, uint32_t count, const struct shape *s)
{
	fep->outstanding -= count;
	fep->sent += count;
	flow->sent += count;
	return post_room(flow, fep, s->batch, s->depth);
}

/* One turn: takes completions and posts at once on the endpoints that they came from. 1 = something came. */
static inline int turn(struct flow *flow, const struct shape *s)
{
	struct done done[FLOW_DONES];
	int n = flow->drv->poll(flow->port, done, FLOW_DONES);

	if (__builtin_expect(n < 0, 0))
		return flow_fail(flow);
	for (int i = 0; i < n; i++) {
		int rc = sent(flow, &flow->eps[done[i].ep->index], done[i].count, s);

		if (__builtin_expect(rc < 0, 0))
			return rc;
	}
	return n;
}

/* The same where messages also arrive. */
static int turn_both(struct flow *flow, const struct shape *s)
{
	struct done done[FLOW_DONES];
	int n = flow->drv->poll(flow->port, done, FLOW_DONES), rc = 0;

	if (n < 0)
		return flow_fail(flow);
	for (int i = 0; i < n && rc >= 0; i++) {
		struct flow_ep *fep = &flow->eps[done[i].ep->index];

		rc = done[i].kind == DONE_TX ? sent(flow, fep, done[i].count, s)
					     : flow_arrived(flow, fep, done[i].count);
	}
	if (rc == 0 && n == 0 && flow->starved)
		rc = flow_feed(flow);
	return rc < 0 ? rc : n;
}

static int bandwidth_turn(struct flow *flow)
{
	const struct shape s = shape_of(flow);

	return flow->spec->bidirectional ? turn_both(flow, &s) : turn(flow, &s);
}

static bool quota_done(const struct flow *flow)
{
	if (!flow->phase.quota)
		return false;
	for (uint32_t i = 0; i < flow->qps; i++) {
		if (flow->eps[i].left || flow->eps[i].outstanding)
			return false;
	}
	return true;
}

static int idle_turn(struct flow *flow)
{
	if (quota_done(flow)) {
		meter_close(flow, clock_now(flow->clock));
		return 0;
	}
	if (flow->block || flow->yield)
		return flow_idle_wait(flow, clock_now(flow->clock));
	return 0;
}

static unsigned spin_mask(const struct flow *flow, uint64_t turn_bytes)
{
	return flow->block || flow->yield || turn_bytes >= LARGE_TURN ? 0 : SPINS;
}

static int bandwidth_active(struct flow *flow)
{
	const struct shape s = shape_of(flow);
	const unsigned mask = spin_mask(flow, s.batch * flow->spec->size);
	unsigned spins = 0;
	int rc = 0;

	flow->kick = true;
	while (!flow->over) {
		if (flow->kick && (rc = post_everywhere(flow, &s)) < 0)
			return rc;
		rc = turn(flow, &s);
		if (rc == 0)
			rc = idle_turn(flow);
		if (rc >= 0 && (++spins & mask) == 0)
			rc = meter_check(flow);
		if (rc < 0)
			return rc;
	}
	return flow_drain(flow);
}

static int passive_turn(struct flow *flow)
{
	int rc = flow_pump(flow);

	if (rc <= 0)
		return rc;
	if (flow->phase.quota)
		flow->last_ns = clock_now(flow->clock);
	return 1;
}

/* At a look at the clock: 1 = the other side is done and everything has arrived, 0 = go on, negative errno. */
static int passive_check(struct flow *flow, int64_t *quiet_since)
{
	if (flow_command(flow) >= FLOW_FINISH && !flow_expects_more(flow, clock_now(flow->clock), quiet_since))
		return 1;
	return meter_check(flow);
}

/* Serves until FLOW_FINISH, then takes what is still under way. */
static int bandwidth_passive(struct flow *flow)
{
	const unsigned mask = flow->block || flow->yield ? 0 : SPINS;
	int64_t quiet_since = 0;
	unsigned spins = 0;
	int rc = 0;

	while (rc == 0) {
		rc = passive_turn(flow);
		if (rc == 0 && mask == 0)
			rc = flow_idle_wait(flow, clock_now(flow->clock));
		if (rc >= 0)
			rc = (++spins & mask) == 0 ? passive_check(flow, &quiet_since) : 0;
	}
	if (rc < 0)
		return rc;
	meter_close(flow, flow->last_ns ? flow->last_ns : clock_now(flow->clock));
	return 0;
}

/* A turn of a side that does both; by quota the last completion of either kind will have ended its window. */
static int both_turn(struct flow *flow, const struct shape *s)
{
	int rc = 0;

	if (flow->kick)
		rc = post_everywhere(flow, s);
	if (rc == 0)
		rc = turn_both(flow, s);
	if (rc > 0 && flow->phase.quota)
		flow->last_ns = clock_now(flow->clock);
	if (rc != 0)
		return rc;
	if (quota_done(flow))
		flow_over(flow, clock_now(flow->clock));
	else if (flow->block || flow->yield)
		return flow_idle_wait(flow, clock_now(flow->clock));
	return 0;
}

/* Sends like the active side and books what arrives; when it has sent all, serves like the passive side. */
static int bandwidth_both(struct flow *flow)
{
	const struct shape s = shape_of(flow);
	const unsigned mask = spin_mask(flow, s.batch * flow->spec->size);
	unsigned spins = 0;
	int rc = 0;

	flow->kick = true;
	while (!flow->over) {
		rc = both_turn(flow, &s);
		if (rc >= 0 && (++spins & mask) == 0)
			rc = meter_check(flow);
		if (rc < 0)
			return rc;
	}
	rc = flow_drain(flow);
	if (rc < 0)
		return rc;
	flow_sent_all(flow);
	if (flow->receives)
		return bandwidth_passive(flow);
	meter_close(flow, flow->last_ns ? flow->last_ns : clock_now(flow->clock));
	return flow->serves ? flow_serve(flow) : 0;
}

static int prepare_ep(struct flow *flow, struct flow_ep *fep)
{
	const struct spec *spec = flow->spec;
	const struct work tx = flow_work(flow, WORK_TX, (uint32_t)spec->post_batch),
			  rx = flow_work(flow, WORK_RX, (uint32_t)spec->rx_depth);
	int rc = 0;

	if (flow->sends)
		rc = flow->drv->prepare(fep->ep, &tx, &flow->error);
	if (rc < 0 || !flow->receives)
		return rc;
	rc = flow->drv->prepare(fep->ep, &rx, &flow->error);
	if (rc < 0)
		return rc;
	return flow_repost(flow, fep);
}

static int bandwidth_prepare(struct flow *flow)
{
	int rc = 0;

	for (uint32_t i = 0; i < flow->qps && rc >= 0; i++)
		rc = prepare_ep(flow, &flow->eps[i]);
	return rc;
}

const struct engine engine_bandwidth = {
	.metric = METRIC_BW,
	.prepare = bandwidth_prepare,
	.active = bandwidth_active,
	.passive = bandwidth_passive,
	.both = bandwidth_both,
	.turn = bandwidth_turn,
};
