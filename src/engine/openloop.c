/* Open loop: messages are posted when a schedule says so, whether those before are done or not. */
#include "engine/openloop.h"
#include "base/hist.h"
#include "engine/bandwidth.h"
#include "engine/engine.h"
#include "engine/latency.h"
#include "engine/pace.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#define SPINS       15u /* the window is looked after every 16th turn */
#define WAKE_NS     100000LL /* a sleep may end so late: the rest is polled */
#define SLICE_NS    20000000LL
#define CATCH_UP_NS 100000000LL /* for what was due in the window and is not posted when that ends */
#define REST_NS     10000000000LL /* for what is under way then */

/* Messages of one endpoint that are under way: when they were due, in the order in which they will be done. */
struct line {
	uint32_t head, tail;
	int64_t *due; /* a ring of loop->mask + 1 */
};

struct openloop {
	struct pace pace;
	int64_t late_ns; /* a post is late when the next message is due by then, too */
	int64_t stop_ns; /* what is due from here on is not posted */
	enum done_kind ends; /* what ends a message: its completion, or its answer */
	bool timed; /* samples are kept */
	uint32_t depth, mask;
	uint32_t at; /* endpoint whose turn it is */
	uint64_t under_way;
	struct line line[];
};

/* --- posting --- */

static bool in_window(const struct flow *flow, int64_t due)
{
	return flow->phase.measure && due >= flow->phase.begin_ns && due < flow->phase.end_ns;
}

/* The endpoint whose turn it is, or the next one that has room; NULL when none has. */
static struct flow_ep *with_room(struct flow *flow, struct openloop *loop)
{
	for (uint32_t tried = 0; tried < flow->qps; tried++) {
		struct flow_ep *fep = &flow->eps[loop->at];
		const struct line *line = &loop->line[loop->at];

		if (fep->left && fep->outstanding < loop->depth && line->tail - line->head < loop->depth)
			return fep;
		loop->at = loop->at + 1 == flow->qps ? 0 : loop->at + 1;
	}
	return NULL;
}

static void book_post(struct flow *flow, struct openloop *loop, struct flow_ep *fep, int64_t now)
{
	const int64_t due = loop->pace.due_ns, late = now - due;
	struct line *line = &loop->line[loop->at];

	fep->outstanding++;
	fep->posted++;
	if (fep->left != UINT64_MAX)
		fep->left--;
	fep->tail_signalled = fep->left == 0;
	if (loop->timed)
		line->due[line->tail & loop->mask] = due;
	line->tail++;
	loop->under_way++;
	loop->at = loop->at + 1 == flow->qps ? 0 : loop->at + 1;
	if (in_window(flow, due))
		pacing_record(&flow->result->pacing, late, late > loop->late_ns);
	pace_advance(&loop->pace);
}

/* Posts what is due as far as there is room: 0, or negative errno. */
static int post_due(struct flow *flow, struct openloop *loop)
{
	int64_t now;

	while (loop->pace.due_ns < loop->stop_ns && (now = clock_now(flow->clock)) >= loop->pace.due_ns) {
		struct flow_ep *fep = with_room(flow, loop);
		int rc;

		if (!fep)
			return 0;
		rc = flow->drv->post(fep->ep, 1, fep->left == 1 ? POST_LAST : 0);
		if (rc <= 0)
			return rc < 0 ? flow_fail(flow) : 0;
		book_post(flow, loop, fep, now);
	}
	return 0;
}

/* --- completions --- */

/* The oldest messages of an endpoint are done. */
static void book_done(struct flow *flow, struct openloop *loop, const struct done *done, int64_t now)
{
	struct line *line = &loop->line[done->ep->index];

	for (uint32_t i = 0; i < done->count && line->head != line->tail; i++, line->head++) {
		const int64_t due = loop->timed ? line->due[line->head & loop->mask] : 0;

		loop->under_way--;
		if (loop->timed && in_window(flow, due))
			hist_record(flow->result->hist, (uint64_t)(now - due));
	}
}

/* One turn: posts what is due, takes completions. 1 = something came. */
static int openloop_turn(struct flow *flow)
{
	struct openloop *loop = flow->loop;
	struct done done[FLOW_DONES];
	int64_t now;
	int n = post_due(flow, loop);

	if (n < 0)
		return n;
	n = flow->drv->poll(flow->port, done, FLOW_DONES);
	if (n <= 0)
		return n < 0 ? flow_fail(flow) : 0;
	now = clock_now(flow->clock);
	for (int i = 0; i < n; i++) {
		int rc;

		if (done[i].kind == loop->ends)
			book_done(flow, loop, &done[i], now);
		rc = flow_book(flow, &done[i]);
		if (rc < 0)
			return rc;
	}
	return 1;
}

/* --- the active side --- */

/* Nothing came: sleeps until something is due, not quite, or gives way. */
static int idle(struct flow *flow, const struct openloop *loop)
{
	const int64_t now = clock_now(flow->clock);
	int64_t left = flow->meter.next_edge - now;

	if (flow->yield && !flow->block)
		sched_yield();
	if (!flow->block)
		return 0;
	if (loop->pace.due_ns > now && loop->pace.due_ns - now - WAKE_NS < left)
		left = loop->pace.due_ns - now - WAKE_NS;
	if (left > SLICE_NS)
		left = SLICE_NS;
	return left > 0 && flow->drv->wait(flow->port, left) < 0 ? flow_fail(flow) : 0;
}

static bool quota_done(const struct flow *flow, const struct openloop *loop)
{
	for (uint32_t i = 0; i < flow->qps; i++) {
		if (flow->eps[i].left)
			return false;
	}
	return loop->under_way == 0;
}

static int idle_turn(struct flow *flow, struct openloop *loop)
{
	if (flow->phase.quota && quota_done(flow, loop)) {
		meter_close(flow, clock_now(flow->clock));
		return 0;
	}
	return idle(flow, loop);
}

/* Turns until done, at most for limit_ns. */
static int go_on(struct flow *flow, bool (*done)(const struct openloop *loop), int64_t limit_ns)
{
	const int64_t limit = clock_now(flow->clock) + limit_ns;
	struct openloop *loop = flow->loop;

	while (!done(loop) && clock_now(flow->clock) < limit && flow_command(flow) != FLOW_ABORT) {
		int rc = openloop_turn(flow);

		if (rc == 0)
			rc = idle(flow, loop);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool all_posted(const struct openloop *loop)
{
	return loop->pace.due_ns >= loop->stop_ns;
}

static bool all_done(const struct openloop *loop)
{
	return loop->under_way == 0;
}

/* Of what is under way, that which was due in the window. */
static uint64_t unanswered(const struct flow *flow, const struct openloop *loop)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; loop->timed && i < flow->qps; i++) {
		const struct line *line = &loop->line[i];

		for (uint32_t at = line->head; at != line->tail; at++)
			sum += in_window(flow, line->due[at & loop->mask]);
	}
	return sum;
}

/*
 * What was due in the window belongs to it, however late it is posted and done: else the messages that waited longest
 * would be left out. What does not come in time is counted.
 */
static int finish(struct flow *flow, struct openloop *loop)
{
	const int64_t end = flow->phase.end_ns < flow->over_ns ? flow->phase.end_ns : flow->over_ns;
	int rc;

	loop->stop_ns = flow->phase.quota ? loop->pace.due_ns : end;
	if (flow->phase.measure)
		flow->result->pacing.behind = pace_until(&loop->pace, loop->stop_ns);
	rc = go_on(flow, all_posted, CATCH_UP_NS);
	if (flow->phase.measure)
		pacing_miss(&flow->result->pacing, pace_until(&loop->pace, loop->stop_ns));
	loop->stop_ns = INT64_MIN;
	if (rc == 0)
		rc = go_on(flow, all_done, REST_NS);
	flow->result->timeouts += unanswered(flow, loop);
	return rc < 0 ? rc : flow_drain(flow);
}

static int openloop_active(struct flow *flow)
{
	struct openloop *loop = flow->loop;
	unsigned spins = 0;
	int rc;

	do /* what came late for the phase before ends no message of this one */
		rc = flow_pump(flow);
	while (rc > 0);
	pace_init(&loop->pace, flow->spec, flow->index, flow->phase.start_ns);
	loop->late_ns = (int64_t)loop->pace.mean_ns;
	loop->stop_ns = INT64_MAX;
	while (rc >= 0 && !flow->over) {
		rc = openloop_turn(flow);
		if (rc == 0)
			rc = idle_turn(flow, loop);
		if (rc >= 0 && (++spins & (flow->block || flow->yield ? 0 : SPINS)) == 0)
			rc = meter_check(flow);
	}
	return rc < 0 ? rc : finish(flow, loop);
}

/* --- rows --- */

static int make(struct flow *flow)
{
	const uint32_t depth = (uint32_t)flow->spec->tx_depth;
	const bool timed = flow->spec->metric == METRIC_LAT;
	uint32_t ring = 1;
	int64_t *due;

	while (ring < depth)
		ring *= 2;
	openloop_free(flow);
	flow->loop = calloc(1, sizeof(*flow->loop) + flow->qps * (sizeof(struct line) + ring * timed * sizeof(*due)));
	if (!flow->loop)
		return error_set(&flow->error, -ENOMEM, "no memory for a schedule of %u messages under way", depth);
	flow->loop->depth = depth;
	flow->loop->mask = ring - 1;
	flow->loop->timed = timed;
	flow->loop->ends = timed && latency_is_ping_pong(flow->spec) ? DONE_RX : DONE_TX;
	due = (int64_t *)&flow->loop->line[flow->qps];
	for (uint32_t i = 0; timed && i < flow->qps; i++)
		flow->loop->line[i].due = due + (size_t)i * ring;
	return 0;
}

void openloop_free(struct flow *flow)
{
	free(flow->loop);
	flow->loop = NULL;
}

static int prepare_bandwidth(struct flow *flow)
{
	const int rc = flow->active ? make(flow) : 0;

	return rc < 0 ? rc : engine_bandwidth.prepare(flow);
}

static int prepare_latency(struct flow *flow)
{
	const int rc = flow->active ? make(flow) : 0;

	return rc < 0 ? rc : engine_latency.prepare(flow);
}

static int take_all(struct flow *flow)
{
	return engine_bandwidth.passive(flow);
}

static int passive_latency(struct flow *flow)
{
	return latency_is_ping_pong(flow->spec) ? openloop_answer(flow) : take_all(flow);
}

const struct engine engine_openloop_bandwidth = {
	.metric = METRIC_BW,
	.paced = true,
	.prepare = prepare_bandwidth,
	.active = openloop_active,
	.passive = take_all,
	.turn = openloop_turn,
};

const struct engine engine_openloop_latency = {
	.metric = METRIC_LAT,
	.paced = true,
	.prepare = prepare_latency,
	.active = openloop_active,
	.passive = passive_latency,
	.turn = openloop_turn,
};
