/* The simulation packet by packet: the sender whose packet arrives next is on top of a heap; queues drain by arithmetic. */
#include "model/sim.h"

#include "base/error.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct sender {
	double next; /* arrival of the packet under way; INFINITY: all is sent */
	double ready, rest; /* when it goes on its way, and the seconds until it has arrived */
	uint32_t turn; /* it is of that sender of the flow's, from 1 on: one behind the other, evenly apart */
	double size; /* of it, bytes */
	double left; /* bytes of the burst, with that packet */
	double due; /* start of the next burst */
	uint64_t bursts; /* behind the one under way */
};

struct tank {
	double q, at; /* bytes at that instant */
	struct sim_pfc pfc;
};

struct packets {
	const struct sim *sim;
	struct tank *tank;
	struct sender *sender;
	uint32_t *heap; /* indices of senders, the next arrival first; those that are paused or done behind `waiting` */
	uint32_t waiting; /* senders in the heap */
	struct sim_outcome *outcome;
	uint64_t count;
};

/* --- the heap --- */

static void sink(struct packets *packets, uint32_t at)
{
	uint32_t *const heap = packets->heap;
	const struct sender *const sender = packets->sender;
	const uint32_t one = heap[at];

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= packets->waiting)
			break;
		if (child + 1 < packets->waiting && sender[heap[child + 1]].next < sender[heap[child]].next)
			child++;
		if (sender[heap[child]].next >= sender[one].next)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = one;
}

/* Anew, of those that have something to send and may. */
static void rebuild(struct packets *packets)
{
	const struct sim *const sim = packets->sim;

	packets->waiting = 0;
	for (uint32_t i = 0; i < sim->flows; i++)
		if (isfinite(packets->sender[i].next) && !packets->tank[sim->flow[i].queue].pfc.paused)
			packets->heap[packets->waiting++] = i;
	for (uint32_t at = packets->waiting / 2; at > 0; at--)
		sink(packets, at - 1);
}

/* --- senders --- */

/* The next packet of a burst, or the first of the next burst, of all senders of the flow. False: there is none. */
static bool next_round(const struct sim_flow *flow, struct sender *sender, double *now)
{
	sender->left -= sender->size;
	if (sender->left <= 0) {
		if (!sender->bursts)
			return false;
		sender->bursts--;
		sender->left = flow->bytes;
		*now = fmax(*now, sender->due);
		sender->due += flow->period;
	}
	sender->size = fmin(flow->packet, sender->left);
	sender->turn = 0;
	return true;
}

/* The packet behind the one that has arrived at an instant. */
static void follow(const struct sim_flow *flow, struct sender *sender, double now)
{
	if (sender->turn == flow->senders && !next_round(flow, sender, &now)) {
		sender->next = sender->ready = INFINITY;
		return;
	}
	sender->turn++;
	sender->rest = sender->size / flow->rate / flow->senders;
	sender->ready = now;
	sender->next = now + sender->rest;
}

/* --- queues --- */

static void drain(struct packets *packets, uint32_t k, double now)
{
	struct tank *const tank = &packets->tank[k];
	const double out = packets->sim->queue[k].drain * (now - tank->at);

	if (tank->q > 0 && out >= tank->q)
		packets->outcome[k].empty = tank->at + tank->q / packets->sim->queue[k].drain;
	tank->q = fmax(tank->q - out, 0);
	tank->at = now;
}

/* What the queue may hold now. */
static double threshold(struct packets *packets, double now)
{
	const struct buffer *const buffer = &packets->sim->box.buffer;
	double used = 0;

	if (buffer->alpha <= 0)
		return buffer->limit;
	for (uint32_t k = 0; k < packets->sim->queues; k++) {
		drain(packets, k, now);
		used += packets->sim->queue[k].copies * packets->tank[k].q;
	}
	return buffer->alpha * (buffer->pool - used);
}

static void arrive(struct packets *packets, uint32_t k, double size, double now)
{
	struct sim_outcome *const outcome = &packets->outcome[k];
	struct tank *const tank = &packets->tank[k];

	drain(packets, k, now);
	packets->count++;
	outcome->offered += size;
	if (tank->q + size > threshold(packets, now)) {
		outcome->dropped += size;
		outcome->first_drop = outcome->first_drop < 0 ? now : outcome->first_drop;
		return;
	}
	outcome->marked += size * ecn_share(&packets->sim->box.ecn, tank->q);
	tank->q += size;
	outcome->peak = fmax(outcome->peak, tank->q);
}

/* --- pausing --- */

/* When PFC has something to do next. */
static double next_pfc(const struct packets *packets, uint32_t *ret_queue)
{
	const struct sim *const sim = packets->sim;
	double first = INFINITY;

	if (isinf(sim->box.xoff))
		return INFINITY;
	for (uint32_t k = 0; k < sim->queues; k++) {
		const struct tank *const tank = &packets->tank[k];
		double when = tank->pfc.due;

		if (isinf(when) && tank->pfc.asked)
			when = tank->at + fmax(tank->q - sim->box.xon, 0) / sim->queue[k].drain;
		if (when < first) {
			first = when;
			*ret_queue = k;
		}
	}
	return first;
}

/* A sender's part in a pause: a packet that was cut goes on behind it with what it lacked. */
static void hold(struct sender *sender, bool paused, double now)
{
	if (isinf(sender->ready))
		return;
	if (paused && sender->ready < now)
		sender->rest -= now - sender->ready;
	sender->ready = fmax(sender->ready, now);
	sender->next = sender->ready + sender->rest;
}

static void stop_or_go(struct packets *packets, uint32_t k, double now)
{
	for (uint32_t i = 0; i < packets->sim->flows; i++)
		if (packets->sim->flow[i].queue == k)
			hold(&packets->sender[i], packets->tank[k].pfc.paused, now);
	rebuild(packets);
}

static void act(struct packets *packets, uint32_t k, double now)
{
	struct tank *const tank = &packets->tank[k];

	drain(packets, k, now);
	if (sim_pfc_act(&tank->pfc, &packets->outcome[k], now))
		stop_or_go(packets, k, now);
	sim_pfc_ask(&tank->pfc, &packets->sim->box, tank->q, now);
}

/* --- */

/* The packet that arrives next. */
static void step(struct packets *packets)
{
	const uint32_t index = packets->heap[0];
	const struct sim_flow *const flow = &packets->sim->flow[index];
	struct sender *const sender = &packets->sender[index];
	struct tank *const tank = &packets->tank[flow->queue];
	const double now = sender->next;

	arrive(packets, flow->queue, sender->size, now);
	sim_pfc_ask(&tank->pfc, &packets->sim->box, tank->q, now);
	follow(flow, sender, now);
	if (isinf(sender->next))
		packets->heap[0] = packets->heap[--packets->waiting];
	if (packets->waiting)
		sink(packets, 0);
}

static void run(struct packets *packets)
{
	const double until = packets->sim->until;

	for (;;) {
		const double arrival = packets->waiting ? packets->sender[packets->heap[0]].next : INFINITY;
		uint32_t queue = 0;
		const double pause = next_pfc(packets, &queue);

		if (fmin(arrival, pause) > until || isinf(fmin(arrival, pause)))
			break;
		if (pause < arrival)
			act(packets, queue, pause);
		else
			step(packets);
	}
}

static void begin(struct packets *packets)
{
	const struct sim *const sim = packets->sim;

	for (uint32_t k = 0; k < sim->queues; k++) {
		packets->tank[k] = (struct tank){ .pfc.due = INFINITY };
		packets->outcome[k] = (struct sim_outcome){ .first_drop = -1, .empty = -1 };
	}
	for (uint32_t i = 0; i < sim->flows; i++) {
		packets->sender[i] = (struct sender){ .due = sim->flow[i].start,
						      .bursts = sim->flow[i].bursts,
						      .turn = sim->flow[i].senders };
		follow(&sim->flow[i], &packets->sender[i], 0);
	}
	rebuild(packets);
}

/* Lets the queues drain until the end, or until they are empty. */
static void finish(struct packets *packets)
{
	const double until = packets->sim->until;

	for (uint32_t k = 0; k < packets->sim->queues; k++) {
		struct tank *const tank = &packets->tank[k];

		if (isfinite(until))
			drain(packets, k, until);
		else if (tank->q > 0)
			packets->outcome[k].empty = tank->at + tank->q / packets->sim->queue[k].drain;
		packets->outcome[k].left = isfinite(until) ? tank->q : 0;
		if (tank->pfc.paused)
			packets->outcome[k].paused += tank->at - tank->pfc.since;
	}
}

int sim_packets(const struct sim *sim, struct sim_outcome *ret, uint64_t *ret_packets, struct error *err)
{
	struct packets packets = { .sim = sim, .outcome = ret };
	int rc = sim_check(sim, err);

	if (rc < 0)
		return rc;
	packets.tank = calloc(sim->queues, sizeof(*packets.tank));
	packets.sender = calloc(sim->flows, sizeof(*packets.sender));
	packets.heap = calloc(sim->flows, sizeof(*packets.heap));
	if (packets.tank && packets.sender && packets.heap) {
		begin(&packets);
		run(&packets);
		finish(&packets);
		*ret_packets = packets.count;
	} else {
		rc = error_set(err, -ENOMEM, "no memory to simulate %u flows", sim->flows);
	}
	free(packets.tank);
	free(packets.sender);
	free(packets.heap);
	return rc;
}
