/* Posts, or awaits, the messages of a volley, and keeps by this host's clock when each was posted, or came. */
#include "engine/volley.h"

#include "engine/engine.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>

#define STEP_NS 1000000LL /* from one message to the next */
#define WAKE_NS 200000LL /* a sleep may end so late; the rest is spun, */
#define SPIN_NS 20000LL /* and this much without giving way */

int volley_make(struct flow *flow)
{
	flow->volley_ns = calloc(flow->peers, RESULT_VOLLEYS * sizeof(*flow->volley_ns));
	return flow->volley_ns ? 0 : error_set(&flow->error, -ENOMEM, "no memory for a volley");
}

void volley_free(struct flow *flow)
{
	free(flow->volley_ns);
	flow->volley_ns = NULL;
}

static int rest(struct flow *flow, int64_t left)
{
	if (flow->block)
		return flow->drv->wait(flow->port, left) < 0 ? flow_fail(flow) : 0;
	ppoll(NULL, 0, &(struct timespec){ .tv_nsec = left }, NULL);
	return 0;
}

static bool is_under_way(const struct flow *flow)
{
	for (uint32_t i = 0; i < flow->qps; i++)
		if (flow->eps[i].outstanding)
			return true;
	return false;
}

/* What is under way may need to be polled to get on. */
static int await(struct flow *flow, int64_t due)
{
	int64_t left;
	int rc = 0;

	while (rc >= 0 && (left = due - clock_now(flow->clock)) > 0 && flow_command(flow) == FLOW_RUN) {
		if (is_under_way(flow))
			rc = flow_pump(flow);
		else if (left > WAKE_NS)
			rc = rest(flow, left - WAKE_NS);
		else if (flow->yield && left > SPIN_NS)
			sched_yield();
	}
	return rc < 0 ? rc : 0;
}

/* One message on the first queue pair of the connection, once there is room for all of it; 0: that is to end. */
static int fire(struct flow *flow, uint32_t number)
{
	struct flow_ep *fep = &flow->eps[flow->volley_peer * (flow->qps / flow->peers)];
	int rc;

	while ((rc = flow->drv->post(fep->ep, 1, POST_LAST)) == 0) {
		rc = flow_pump(flow);
		if (rc < 0 || flow_command(flow) != FLOW_RUN)
			return rc < 0 ? rc : 0;
		if (rc == 0 && flow->yield)
			sched_yield();
	}
	if (rc < 0)
		return flow_fail(flow);
	flow->volley_ns[flow->volley_peer * RESULT_VOLLEYS + number] = clock_now(flow->clock);
	fep->outstanding++;
	fep->posted++;
	fep->tail_signalled = true;
	return 1;
}

static int send_all(struct flow *flow)
{
	const int64_t start = flow->phase.start_ns + flow->volley_turn * RESULT_VOLLEYS * STEP_NS;
	int rc = 1;

	for (uint32_t i = 0; rc > 0 && i < RESULT_VOLLEYS && flow_command(flow) == FLOW_RUN; i++) {
		rc = await(flow, start + (i + 1) * STEP_NS);
		rc = rc < 0 ? rc : fire(flow, i);
	}
	return rc < 0 ? rc : flow_drain(flow);
}

static void stamp(struct flow *flow, const struct done *done, int64_t now)
{
	const uint32_t step = flow->qps / flow->peers, peer = done->ep->index / step;
	const uint64_t first = flow->eps[done->ep->index].received;

	if (done->kind != DONE_RX || done->ep->index % step)
		return;
	for (uint64_t i = first; i < first + done->count && i < RESULT_VOLLEYS; i++)
		flow->volley_ns[peer * RESULT_VOLLEYS + i] = now;
}

/* 1 = completions came, 0 = nothing. */
static int take(struct flow *flow)
{
	struct done done[FLOW_DONES];
	const int n = flow->drv->poll(flow->port, done, FLOW_DONES);
	const int64_t now = clock_now(flow->clock);
	int rc = 0;

	if (n < 0)
		return flow_fail(flow);
	for (int i = 0; rc == 0 && i < n; i++) {
		stamp(flow, &done[i], now);
		rc = flow_book(flow, &done[i]);
	}
	if (rc == 0 && n == 0)
		return flow->starved ? flow_feed(flow) : flow_idle_wait(flow, now);
	return rc < 0 ? rc : 1;
}

static int await_all(struct flow *flow)
{
	int64_t quiet_since = 0;
	int rc;

	do
		rc = take(flow);
	while (rc > 0 || (rc == 0 && (flow_command(flow) < FLOW_FINISH ||
				      flow_expects_more(flow, clock_now(flow->clock), &quiet_since))));
	return rc;
}

int volley_run(struct flow *flow)
{
	int rc = 0;

	if (flow->volley_ns)
		rc = flow->active ? send_all(flow) : await_all(flow);
	meter_close(flow, clock_now(flow->clock));
	return rc;
}
