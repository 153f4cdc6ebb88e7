/* Sends bursts: waits for the instant of a slot, posts what was prepared, and keeps when it began and was done. */
#include "engine/burst.h"

#include "engine/arrivals.h"
#include "engine/bandwidth.h"
#include "engine/burst_line.h"
#include "engine/engine.h"

#include <poll.h>
#include <sched.h>

#define SLICE_NS 20000000LL /* how late a command is noticed */
#define REST_NS  10000000000LL /* for what is under way at the end */
#define STOP_NS  1000000000LL /* what a device holds back for longer is not waited for when the test is stopped */

/* --- posting --- */

/* Posts on one endpoint what it still has of the burst, as far as there is room. */
static int post_lane(struct flow *flow, struct burst_line *line, uint32_t at)
{
	struct bursts *b = flow->bursts;
	struct burst_open *open = burst_current(b, line);
	struct flow_ep *fep = &flow->eps[at];

	while (b->lane[at].unposted) {
		uint32_t n = open->record.rung_ns ? b->batch : b->first_batch;
		const uint32_t room = b->depth - fep->outstanding;
		int rc;

		n = n < b->lane[at].unposted ? n : b->lane[at].unposted;
		n = n < room ? n : room;
		if (!n)
			return 0;
		if (!open->record.begun_ns)
			open->record.begun_ns = clock_now(flow->clock);
		rc = flow->drv->post(fep->ep, n, POST_LAST);
		if (rc <= 0)
			return rc < 0 ? flow_fail(flow) : 0;
		fep->outstanding += (uint32_t)rc;
		fep->posted += (uint32_t)rc;
		fep->tail_signalled = true;
		burst_posted(b, line, at, (uint32_t)rc, clock_now(flow->clock));
		if ((uint32_t)rc < n || (line->until_ns && open->record.posted_ns >= line->until_ns))
			return 0;
	}
	return 0;
}

/* The endpoints of a line in turn, with another one first in each burst and on each host. */
static int post_line(struct flow *flow, struct burst_line *line)
{
	uint32_t at = line->turn;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < line->count; i++) {
		rc = post_lane(flow, line, line->first + at);
		at = at + 1 == line->count ? 0 : at + 1;
	}
	if (rc == 0 && (!line->unposted || (line->until_ns && clock_now(flow->clock) >= line->until_ns)))
		burst_ended(flow, line);
	return rc;
}

static int post_open(struct flow *flow, struct bursts *b)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && b->posting && i < b->lines; i++)
		rc = b->line[i].on ? post_line(flow, &b->line[i]) : 0;
	return rc;
}

/* Books what has come: 1 = completions, 0 = nothing. */
static int take(struct flow *flow)
{
	struct done done[FLOW_DONES];
	const int n = flow->drv->poll(flow->port, done, FLOW_DONES);
	int64_t now;

	if (n <= 0)
		return n < 0 ? flow_fail(flow) : 0;
	now = clock_now(flow->clock);
	for (int i = 0; i < n; i++) {
		const int rc = flow_book(flow, &done[i]);

		if (rc < 0)
			return rc;
		if (done[i].kind == DONE_TX)
			burst_done(flow, done[i].ep->index, done[i].count, now);
	}
	return 1;
}

/* A slot has no room only if what was sent is not completed, not because nobody has looked since. */
static int make_room(struct flow *flow, const struct burst_line *line)
{
	int rc = 1;

	while (rc > 0 && !burst_has_room(flow, line))
		rc = take(flow);
	return rc < 0 ? rc : 0;
}

/* Slots that are due: their bursts begin. No more than the lines in a turn: slots may come faster than posts return. */
static int start_due(struct flow *flow, struct bursts *b)
{
	int64_t now;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < b->lines && b->next_ns <= (now = clock_now(flow->clock)); i++) {
		struct burst_line *line = &b->line[b->next];

		rc = make_room(flow, line);
		if (rc == 0 && burst_begin(flow, line, now))
			rc = post_line(flow, line);
		burst_choose(flow);
	}
	return rc;
}

/* One turn: 1 = completions came. */
static int burst_turn(struct flow *flow)
{
	struct bursts *b = flow->bursts;
	int rc = start_due(flow, b);

	if (rc == 0 && b->posting)
		rc = post_open(flow, b);
	return rc < 0 ? rc : take(flow);
}

/* --- waiting --- */

/* Sleeps until the next slot, not quite: the rest, longer than a wake-up takes, is spun. Meanwhile the slot may have moved. */
static int rest(struct flow *flow, int64_t left)
{
	int rc = 0;

	left = left < SLICE_NS ? left : SLICE_NS;
	if (flow->block)
		rc = flow->drv->wait(flow->port, left) < 0 ? flow_fail(flow) : 0;
	else
		ppoll(NULL, 0, &(struct timespec){ .tv_nsec = left }, NULL);
	if (flow->bursts->next_ns != INT64_MAX)
		burst_choose(flow);
	return rc;
}

/* Nothing came. */
static int idle(struct flow *flow, const struct bursts *b)
{
	const int64_t now = clock_now(flow->clock), edge = flow->meter.next_edge;
	const int64_t left = (b->next_ns < edge ? b->next_ns : edge) - now - b->wake_ns;

	if (b->next_ns - now <= b->tight_ns) {
		while (!b->posting && clock_now(flow->clock) < b->next_ns)
			;
		return 0;
	}
	if (left > 0 && !b->posting && (flow->block || !b->under_way))
		return rest(flow, left);
	if (flow->yield)
		sched_yield();
	return 0;
}

/* Between turns: nothing came, or completions, which make room for what the device paces. */
static int between(struct flow *flow, const struct bursts *b, int came)
{
	if (!came)
		return idle(flow, b);
	if (b->by_device)
		burst_choose(flow);
	return came;
}

/* --- the active side --- */

/* Told to end at once, with what the device lets go much later: it goes with its queue pair. */
static bool is_left(const struct flow *flow)
{
	return flow_stopped(flow) && flow->bursts->queued_ns > STOP_NS;
}

/* A burst that has begun is sent whole, and all of it awaited. */
static int finish(struct flow *flow)
{
	const int64_t limit = clock_now(flow->clock) + REST_NS + flow->spec->burst_ns + flow->bursts->queued_ns;
	struct bursts *b = flow->bursts;
	int rc = 0;

	b->next_ns = INT64_MAX;
	while (rc >= 0 && (b->posting || b->under_way) && clock_now(flow->clock) < limit &&
	       flow_command(flow) != FLOW_ABORT && !is_left(flow)) {
		rc = burst_turn(flow);
		if (rc == 0 && flow->yield)
			sched_yield();
	}
	burst_finish(flow);
	flow->drained_ns = clock_now(flow->clock);
	return rc < 0 || is_left(flow) ? rc : flow_drain(flow);
}

static int burst_active(struct flow *flow)
{
	struct bursts *b = flow->bursts;
	int rc;

	do /* what came late for the phase before belongs to no burst of this one */
		rc = flow_pump(flow);
	while (rc > 0);
	burst_start(flow);
	while (rc >= 0 && !flow->over) {
		rc = burst_turn(flow);
		if (rc >= 0)
			rc = between(flow, b, rc);
		if (rc >= 0)
			rc = meter_check(flow);
		if (b->next_ns == INT64_MAX && !b->posting && !b->under_way && flow->phase.quota)
			meter_close(flow, clock_now(flow->clock));
	}
	return rc < 0 ? rc : finish(flow);
}

static int burst_prepare(struct flow *flow)
{
	const int rc = flow->active ? burst_make(flow) : arrivals_make(flow);

	return rc < 0 ? rc : engine_bandwidth.prepare(flow);
}

static int burst_passive(struct flow *flow)
{
	arrivals_start(flow);
	return engine_bandwidth.passive(flow);
}

const struct engine engine_burst = {
	.metric = METRIC_BW,
	.bursts = true,
	.prepare = burst_prepare,
	.active = burst_active,
	.passive = burst_passive,
	.turn = burst_turn,
};
