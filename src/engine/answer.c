/* The passive side of an open loop's ping-pong: answers each message on the queue pair where it came. */
#include "engine/engine.h"
#include "engine/openloop.h"

#define SPINS 15u /* the window is looked after every 16th turn */

/* Answers what has come on an endpoint, as far as there is room. */
static int answer(struct flow *flow, struct flow_ep *fep, uint32_t depth)
{
	while (fep->answered != fep->received && fep->outstanding < depth) {
		int rc = flow->drv->post(fep->ep, 1, 0);

		if (rc < 0)
			return flow_fail(flow);
		flow->kick |= rc == 0;
		if (rc == 0)
			break;
		fep->outstanding++;
		fep->posted++;
		fep->answered++;
	}
	return 0;
}

/* 1 = something came. */
static int answer_turn(struct flow *flow, uint32_t depth)
{
	struct done done[FLOW_DONES];
	int n = flow->drv->poll(flow->port, done, FLOW_DONES), rc = 0;

	if (n < 0)
		return flow_fail(flow);
	for (int i = 0; rc == 0 && i < n; i++) {
		rc = flow_book(flow, &done[i]);
		if (rc == 0)
			rc = answer(flow, &flow->eps[done[i].ep->index], depth);
	}
	return rc < 0 ? rc : n > 0;
}

static int answer_everywhere(struct flow *flow, uint32_t depth)
{
	int rc = 0;

	flow->kick = false;
	for (uint32_t i = 0; rc == 0 && i < flow->qps; i++)
		rc = answer(flow, &flow->eps[i], depth);
	return rc;
}

int openloop_answer(struct flow *flow)
{
	const uint32_t depth = (uint32_t)flow->spec->tx_depth;
	unsigned spins = 0;
	int rc = 0;

	for (uint32_t i = 0; i < flow->qps; i++)
		flow->eps[i].answered = flow->eps[i].received;
	while (rc >= 0 && flow_command(flow) < FLOW_FINISH) {
		rc = answer_turn(flow, depth);
		if (rc == 0 && flow->kick)
			rc = answer_everywhere(flow, depth);
		if (rc == 0 && (flow->block || flow->yield))
			rc = flow_idle_wait(flow, clock_now(flow->clock));
		if (rc >= 0 && (++spins & SPINS) == 0) {
			const uint64_t received = flow->received;

			rc = meter_check(flow);
			flow->kick |= flow->received != received; /* an edge takes messages and answers none */
		}
	}
	if (rc < 0)
		return rc;
	meter_close(flow, clock_now(flow->clock));
	return flow_drain(flow);
}
