/* The fluid simulation: between two events everything is linear, so it steps from event to event and is exact. */
#include "model/sim.h"

#include "base/error.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define BYTES      1e-3 /* below that, bytes are rounding */
#define RATE       1e-9 /* relative: below that, a rate is rounding */
#define MAX_STEPS  200
#define MAX_EVENTS 20000000u

enum place {
	BELOW, /* the threshold: admits all */
	AT, /* the threshold: admits what follows it */
	OVER /* it, since the threshold fell faster than the queue drains: admits nothing */
};

struct tank {
	enum place place;
	double q, in, slope; /* bytes; arriving bytes/s; dq/dt */
	struct sim_pfc pfc;
};

struct source {
	double left; /* bytes of each sender that have not left */
	double due; /* when the next burst adds to them; INFINITY: none does */
	uint64_t bursts; /* still to come, with that one */
};

struct fluid {
	const struct sim *sim;
	struct tank *tank;
	struct source *source;
	struct sim_outcome *outcome;
	double now, threshold, fall; /* fall: d threshold / dt */
};

static double threshold(const struct fluid *fluid)
{
	const struct buffer *const buffer = &fluid->sim->box.buffer;
	double used = 0;

	if (buffer->alpha <= 0)
		return buffer->limit;
	for (uint32_t k = 0; k < fluid->sim->queues; k++)
		used += fluid->sim->queue[k].copies * fluid->tank[k].q;
	return buffer->alpha * (buffer->pool - used);
}

/* dq/dt of a queue when the threshold changes by so much a second; *ret_follows: as fast as the threshold. */
static double slope_of(const struct tank *tank, double drain, double change, bool *ret_follows)
{
	*ret_follows = false;
	if (tank->place == OVER)
		return -drain;
	if (tank->q <= 0 && tank->in <= drain)
		return 0;
	if (tank->place == BELOW)
		return tank->in - drain;
	*ret_follows = change > -drain && change < tank->in - drain;
	return fmax(-drain, fmin(change, tank->in - drain));
}

/* The sum of what all queues grow by in a second when the threshold changes by alpha * x, and x; *ret_gain: its derivative. */
static double balance(const struct fluid *fluid, double alpha, double x, double *ret_gain)
{
	const struct sim *const sim = fluid->sim;
	double sum = x;

	*ret_gain = 1;
	for (uint32_t k = 0; k < sim->queues; k++) {
		bool follows;

		sum += sim->queue[k].copies * slope_of(&fluid->tank[k], sim->queue[k].drain, alpha * x, &follows);
		*ret_gain += follows ? alpha * sim->queue[k].copies : 0;
	}
	return sum;
}

/*
 * Queues at the threshold move with it, and it moves by what all queues do: with x for what is freed a second, balance(x) = 0.
 * That grows with x and is made of straight pieces: Newton's steps find the only solution, halved where they would go back.
 */
static void solve(struct fluid *fluid)
{
	const double alpha = fmax(fluid->sim->box.buffer.alpha, 0);
	double x = 0, low = -INFINITY, high = INFINITY;

	for (unsigned step = 0; step < MAX_STEPS; step++) {
		double gain;
		const double sum = balance(fluid, alpha, x, &gain), to = x - sum / gain;

		if (fabs(sum) <= RATE * fabs(x))
			break;
		if (sum > 0)
			high = x;
		else
			low = x;
		x = to > low && to < high ? to : (low + high) / 2;
	}
	fluid->fall = alpha * x;
	for (uint32_t k = 0; k < fluid->sim->queues; k++) {
		bool follows;

		fluid->tank[k].slope = slope_of(&fluid->tank[k], fluid->sim->queue[k].drain, fluid->fall, &follows);
	}
}

/* A queue that can't stay at the threshold leaves it; its slope is already that of where it goes. */
static void leave(struct fluid *fluid)
{
	for (uint32_t k = 0; k < fluid->sim->queues; k++) {
		struct tank *const tank = &fluid->tank[k];
		const double drain = fluid->sim->queue[k].drain, slack = RATE * drain;

		if (tank->place != AT)
			continue;
		if (tank->slope < fluid->fall - slack)
			tank->place = BELOW;
		else if (tank->slope > fluid->fall + slack)
			tank->place = OVER;
	}
}

static void arrivals(struct fluid *fluid)
{
	const struct sim *const sim = fluid->sim;

	for (uint32_t k = 0; k < sim->queues; k++)
		fluid->tank[k].in = 0;
	for (uint32_t i = 0; i < sim->flows; i++) {
		const struct sim_flow *const flow = &sim->flow[i];

		if (fluid->source[i].left > 0 && !fluid->tank[flow->queue].pfc.paused)
			fluid->tank[flow->queue].in += flow->senders * flow->rate;
	}
}

static double sooner(double dt, double distance, double speed)
{
	return speed > 0 ? fmin(dt, fmax(distance, 0) / speed) : dt;
}

static double next_of_queue(const struct fluid *fluid, const struct tank *tank, double dt)
{
	const struct sim_switch *const box = &fluid->sim->box;
	const double gap = fluid->threshold - tank->q, closing = tank->slope - fluid->fall;

	if (tank->place == BELOW && closing > RATE * fabs(tank->slope))
		dt = sooner(dt, gap, closing);
	if (tank->place == OVER)
		dt = sooner(dt, -gap, -closing);
	dt = tank->q > 0 ? sooner(dt, tank->q, -tank->slope) : dt;
	if (isfinite(tank->pfc.due))
		return fmin(dt, tank->pfc.due - fluid->now);
	if (isinf(box->xoff))
		return dt;
	return tank->pfc.asked ? sooner(dt, tank->q - box->xon, -tank->slope)
			       : sooner(dt, box->xoff - tank->q, tank->slope);
}

/* Seconds until something changes; INFINITY: nothing will. */
static double next(const struct fluid *fluid)
{
	const struct sim *const sim = fluid->sim;
	double dt = INFINITY;

	for (uint32_t k = 0; k < sim->queues; k++)
		dt = next_of_queue(fluid, &fluid->tank[k], dt);
	for (uint32_t i = 0; i < sim->flows; i++) {
		const struct source *const source = &fluid->source[i];

		if (source->left > 0 && !fluid->tank[sim->flow[i].queue].pfc.paused)
			dt = fmin(dt, source->left / sim->flow[i].rate);
		dt = fmin(dt, source->due - fluid->now);
	}
	return fmax(dt, 0);
}

static void book(struct fluid *fluid, uint32_t k, double dt)
{
	struct sim_outcome *const outcome = &fluid->outcome[k];
	struct tank *const tank = &fluid->tank[k];
	const double before = tank->q, drain = fluid->sim->queue[k].drain;
	const bool filled = before > 0 || tank->in > drain;
	double admitted = tank->in;

	if (tank->place != BELOW)
		admitted = fmax(drain + tank->slope, 0);
	if (tank->in - admitted > RATE * drain && outcome->first_drop < 0)
		outcome->first_drop = fluid->now;
	tank->q = before + tank->slope * dt;
	if (tank->q < BYTES)
		tank->q = 0;
	outcome->offered += tank->in * dt;
	outcome->dropped += fmax(tank->in - admitted, 0) * dt;
	outcome->marked += isfinite(fluid->sim->box.ecn.kmin)
				   ? admitted * dt * ecn_mean(&fluid->sim->box.ecn, before, tank->q)
				   : 0;
	outcome->peak = fmax(outcome->peak, tank->q);
	if (filled && tank->q <= 0)
		outcome->empty = fluid->now + dt;
}

static void send(struct fluid *fluid, double dt)
{
	for (uint32_t i = 0; i < fluid->sim->flows; i++) {
		const struct sim_flow *const flow = &fluid->sim->flow[i];
		struct source *const source = &fluid->source[i];

		if (source->left > 0 && !fluid->tank[flow->queue].pfc.paused)
			source->left -= flow->rate * dt;
		if (source->left < BYTES)
			source->left = 0;
		while (source->due <=
		       fluid->now + dt + SIM_INSTANT) { /* a pair of bursts at one instant is one event */
			source->left += flow->bytes;
			source->due = --source->bursts ? source->due + flow->period : INFINITY;
		}
	}
}

/* Puts queues that met the threshold there, and lets PFC act. */
static void meet(struct fluid *fluid)
{
	fluid->threshold = threshold(fluid);
	for (uint32_t k = 0; k < fluid->sim->queues; k++) {
		struct tank *const tank = &fluid->tank[k];
		const double gap = fluid->threshold - tank->q;

		if ((tank->place == BELOW && gap < BYTES && tank->q > 0) || (tank->place == OVER && gap > -BYTES))
			tank->place = AT;
		sim_pfc_act(&tank->pfc, &fluid->outcome[k], fluid->now);
		sim_pfc_ask(&tank->pfc, &fluid->sim->box, tank->q, fluid->now);
	}
}

static int run(struct fluid *fluid, uint64_t *ret_events, struct error *err)
{
	uint64_t events = 0;

	while (events++ < MAX_EVENTS) {
		double dt;

		meet(fluid);
		arrivals(fluid);
		solve(fluid);
		leave(fluid);
		dt = fmin(next(fluid), fluid->sim->until - fluid->now);
		if (isinf(dt) || fluid->now >= fluid->sim->until) {
			*ret_events = events;
			return 0;
		}
		for (uint32_t k = 0; k < fluid->sim->queues; k++)
			book(fluid, k, dt);
		send(fluid, dt);
		fluid->now += dt;
	}
	return error_set(err, -ELOOP, "it took %u events and has not come to an end", MAX_EVENTS);
}

static void begin(struct fluid *fluid)
{
	const struct sim *const sim = fluid->sim;

	for (uint32_t k = 0; k < sim->queues; k++) {
		fluid->tank[k] = (struct tank){ .pfc.due = INFINITY };
		fluid->outcome[k] = (struct sim_outcome){ .first_drop = -1, .empty = -1 };
	}
	for (uint32_t i = 0; i < sim->flows; i++)
		fluid->source[i] = (struct source){ .due = sim->flow[i].bursts ? sim->flow[i].start : INFINITY,
						    .bursts = sim->flow[i].bursts };
}

int sim_fluid(const struct sim *sim, struct sim_outcome *ret, uint64_t *ret_events, struct error *err)
{
	struct fluid fluid = { .sim = sim, .outcome = ret };
	int rc = sim_check(sim, err);

	if (rc < 0)
		return rc;
	fluid.tank = calloc(sim->queues, sizeof(*fluid.tank));
	fluid.source = calloc(sim->flows, sizeof(*fluid.source));
	if (fluid.tank && fluid.source) {
		begin(&fluid);
		rc = run(&fluid, ret_events, err);
		for (uint32_t k = 0; k < sim->queues; k++) {
			ret[k].left = fluid.tank[k].q;
			if (fluid.tank[k].pfc.paused)
				ret[k].paused += fluid.now - fluid.tank[k].pfc.since;
		}
	} else {
		rc = error_set(err, -ENOMEM, "no memory to simulate %u flows", sim->flows);
	}
	free(fluid.tank);
	free(fluid.source);
	return rc;
}
