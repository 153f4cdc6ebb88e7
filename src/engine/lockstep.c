/* Iterations in step: a message and its announcement on every queue pair, then everybody waits for everybody. */
#include "engine/lockstep.h"

#include "engine/bandwidth.h"
#include "engine/pattern.h"

#include <sched.h>
#include <stdlib.h>

#define WAIT_NS  1000000LL
#define ANNOUNCE 8 /* bytes: not every provider of libfabric delivers an empty write */

void lockstep_spec(struct spec *spec)
{
	spec->op[0] = (struct spec_op){ .verb = spec->verb, .size = spec->size };
	spec->op[1] = (struct spec_op){ .verb = VERB_WRITE_IMM, .size = spec->driver == DRIVER_OFI ? ANNOUNCE : 0 };
	spec->tx_depth = 2;
	spec->rx_depth = 4; /* those of the next iteration are there before it begins */
	spec->cq_mod = 1;
	spec->post_batch = 1;
	spec->validate = false; /* compared between the iterations, by this engine */
}

unsigned lockstep_arrivals(const struct spec *spec)
{
	return 1 + verb_is_two_sided((enum verb)spec->verb);
}

/* A phase while it runs. */
struct course {
	uint64_t steps, done; /* iterations */
	uint64_t posted, received; /* of an endpoint, and of the flow, before the first */
	int64_t first_ns, last_ns, timed_ns, longest_ns;
};

static int rest(struct flow *flow)
{
	if (flow->block && flow->drv->wait(flow->port, WAIT_NS) < 0)
		return flow_fail(flow);
	if (!flow->block && flow->yield)
		sched_yield();
	return 0;
}

static int pump(struct flow *flow)
{
	const int rc = flow_pump(flow);

	return rc == 0 ? rest(flow) : rc;
}

/* Serves until all have ended the iteration before and the agreed instant is there: 1; 0: the run ends; or negative errno. */
static int await_turn(struct flow *flow, const struct course *c)
{
	struct flow_control *control = flow->control;
	int rc = 0;

	while (rc >= 0 && flow_command(flow) == FLOW_RUN) {
		if (atomic_load_explicit(&control->step, memory_order_acquire) > c->done &&
		    clock_now(flow->clock) >= atomic_load(&control->step_ns))
			return 1;
		rc = pump(flow);
	}
	return rc < 0 ? rc : 0;
}

/* The announcement follows when the message has arrived: not every provider keeps their order. */
static int post_due(struct flow *flow, struct flow_ep *fep, uint64_t due)
{
	int rc;

	if (fep->outstanding || fep->posted >= due)
		return 0;
	rc = flow->drv->post(fep->ep, 1, POST_LAST);
	if (rc < 0)
		return flow_fail(flow);
	fep->outstanding += (uint32_t)rc;
	fep->posted += (uint64_t)rc;
	fep->tail_signalled = true;
	return 0;
}

/* What is due on all endpoints; 1: all of it is done, and all has arrived. */
static int advance(struct flow *flow, const struct course *c)
{
	const uint64_t due = c->posted + 2 * (c->done + 1);
	const uint64_t arrivals = (c->done + 1) * lockstep_arrivals(flow->spec) * flow->qps;
	bool done = !flow->receives || flow->received - c->received >= arrivals;

	for (uint32_t i = 0; flow->sends && i < flow->qps; i++) {
		struct flow_ep *fep = &flow->eps[i];
		const int rc = post_due(flow, fep, due);

		if (rc < 0)
			return rc;
		done &= fep->posted == due && !fep->outstanding;
	}
	return done;
}

/* Seeds of the two directions of a connection differ. */
static uint64_t key_of(const struct flow *flow, uint32_t i, bool from_active, uint64_t step)
{
	return pattern_key(flow->checks->seed[i], flow->index, from_active, step);
}

static void fill(struct flow *flow, uint64_t step)
{
	for (uint32_t i = 0; flow->checks && flow->sends && i < flow->qps; i++) {
		uint8_t *slot = flow->drv->tx_slot(flow->eps[i].ep);

		if (slot)
			pattern_fill(slot, flow->spec->size, key_of(flow, i, flow->active, step));
	}
}

static void compare(struct flow *flow, uint64_t step)
{
	for (uint32_t i = 0; flow->checks && flow->receives && i < flow->qps; i++) {
		struct step_check *check = &flow->checks->check[i];
		const uint8_t *slot = flow->drv->rx_slot(flow->eps[i].ep);
		struct mismatch m;

		if (!slot)
			continue;
		check->compared++;
		if (pattern_check(slot, flow->spec->size, key_of(flow, i, !flow->active, step), &m))
			continue;
		if (!check->wrong++)
			check->first = (struct invalid){ .worker = flow->index,
							 .qp = i,
							 .message = step,
							 .byte = (uint32_t)m.first,
							 .bytes = (uint32_t)m.bytes,
							 .expected = m.expected,
							 .found = m.found };
		check->wrong_bytes += m.bytes;
	}
}

/* One iteration: 1; 0: it was cut off; or negative errno. */
static int iterate(struct flow *flow, struct course *c)
{
	const int64_t begun = clock_now(flow->clock);
	int64_t now;
	int rc;

	while ((rc = advance(flow, c)) == 0 && flow_command(flow) == FLOW_RUN)
		if ((rc = pump(flow)) < 0)
			return rc;
	if (rc <= 0)
		return rc;
	now = clock_now(flow->clock);
	c->first_ns = c->done ? c->first_ns : begun;
	c->last_ns = now;
	c->timed_ns += now - begun;
	c->longest_ns = now - begun > c->longest_ns ? now - begun : c->longest_ns;
	return 1;
}

/* Between two iterations, which nobody times. */
static void manage(struct flow *flow, struct course *c)
{
	compare(flow, c->done);
	c->done++;
	if (c->done < c->steps)
		fill(flow, c->done);
	flow_show(flow);
	atomic_fetch_add(&flow->control->stepped, 1);
}

static void keep(struct flow *flow, const struct course *c)
{
	struct worker_result *r = flow->result;
	const uint64_t messages = c->done * flow->qps;

	r->interval_ns = 0;
	r->intervals = 0;
	r->cpu_user_ns = r->cpu_system_ns = -1;
	r->begin_ns = c->first_ns;
	r->end_ns = c->last_ns;
	r->timed_ns = c->timed_ns;
	r->longest_ns = c->longest_ns;
	r->sent = flow->sends ? messages : 0;
	r->received = flow->receives ? messages : 0;
	for (uint32_t i = 0; i < r->qp_count; i++)
		r->qp[i] = (struct qp_count){ .sent = { 0, flow->sends ? c->done : 0 },
					      .received = { 0, flow->receives ? c->done : 0 } };
}

static int serve(struct flow *flow)
{
	int rc = 0;

	while (rc >= 0 && flow_command(flow) < FLOW_FINISH)
		rc = pump(flow);
	return rc < 0 ? rc : 0;
}

static int lockstep_run(struct flow *flow)
{
	struct course c = { .steps = flow->phase.quota / 2, .posted = flow->eps[0].posted, .received = flow->received };
	int rc = 1;

	fill(flow, 0);
	while (rc > 0 && c.done < c.steps) {
		rc = await_turn(flow, &c);
		if (rc > 0)
			rc = iterate(flow, &c);
		if (rc > 0)
			manage(flow, &c);
	}
	if (flow->phase.measure && c.done)
		keep(flow, &c);
	if (rc >= 0 && flow->sends)
		rc = flow_drain(flow);
	if (rc < 0)
		return rc;
	flow_sent_all(flow);
	return serve(flow);
}

static int lockstep_prepare(struct flow *flow)
{
	return engine_bandwidth.prepare(flow);
}

static int lockstep_turn(struct flow *flow)
{
	return flow_pump(flow);
}

const struct engine engine_lockstep = {
	.metric = METRIC_BW,
	.prepare = lockstep_prepare,
	.active = lockstep_run,
	.passive = lockstep_run,
	.both = lockstep_run,
	.turn = lockstep_turn,
};
