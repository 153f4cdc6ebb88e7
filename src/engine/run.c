/* What both engines do with completions: book them, post receives again, wait when idle, drain at the end. */
#include "engine/arrivals.h"
#include "engine/engine.h"

#include <errno.h>
#include <sched.h>

#define DRAIN_LIMIT_NS  10000000000LL
#define WAIT_SLICE_NS   20000000LL /* how late a blocked worker notices a command of the main thread */
#define EXPECT_LIMIT_NS 5000000000LL /* a reliable transport delivers the rest within this time or never */

int flow_fail(struct flow *flow)
{
	if (!flow->error.code)
		flow->error = flow->port->err;
	if (!flow->error.code)
		error_set(&flow->error, -EIO, "worker %u: the driver failed without a reason", flow->index);
	return flow->error.code;
}

int flow_arrived(struct flow *flow, struct flow_ep *fep, uint32_t count)
{
	fep->repost += count;
	fep->received += count;
	flow->received += count;
	return fep->repost >= flow->repost_step ? flow_repost(flow, fep) : 0;
}

int flow_book(struct flow *flow, const struct done *done)
{
	struct flow_ep *fep = &flow->eps[done->ep->index];

	if (done->kind == DONE_TX) {
		fep->outstanding -= done->count;
		fep->sent += done->count;
		flow->sent += done->count;
		flow->kick = true;
		return 0;
	}
	return flow_arrived(flow, fep, done->count);
}

int flow_pump(struct flow *flow)
{
	struct done done[FLOW_DONES];
	int n = flow->drv->poll(flow->port, done, FLOW_DONES);

	if (n < 0)
		return flow_fail(flow);
	for (int i = 0; i < n; i++) {
		int rc = flow_book(flow, &done[i]);

		if (rc < 0)
			return rc;
	}
	if (__builtin_expect(n == 0 && flow->starved, 0))
		return flow_feed(flow);
	if (n > 0 && flow->arrivals)
		arrivals_take(flow);
	return n > 0;
}

int flow_repost(struct flow *flow, struct flow_ep *fep)
{
	while (fep->repost) {
		int n = flow->drv->post_rx(fep->ep, fep->repost);

		if (n < 0)
			return flow_fail(flow);
		if (n == 0) {
			flow->starved = true;
			return 0;
		}
		fep->repost -= (uint32_t)n;
	}
	return 0;
}

/* A ring whose receives were all refused gets no message that would make flow_arrived post them. */
int flow_feed(struct flow *flow)
{
	int rc = 0;

	flow->starved = false;
	for (uint32_t i = 0; i < flow->qps && rc == 0; i++)
		if (flow->eps[i].repost >= flow->repost_step)
			rc = flow_repost(flow, &flow->eps[i]);
	return rc;
}

void flow_sent_all(struct flow *flow)
{
	flow_show(flow);
	if (flow->sending)
		atomic_fetch_sub(&flow->control->sending, 1);
	flow->sending = false;
}

int flow_idle_wait(struct flow *flow, int64_t now)
{
	int64_t left = flow->meter.next_edge - now;

	if (flow->block) {
		if (left > WAIT_SLICE_NS)
			left = WAIT_SLICE_NS;
		if (left > 0 && flow->drv->wait(flow->port, left) < 0)
			return flow_fail(flow);
	} else if (flow->yield) {
		sched_yield();
	}
	return 0;
}

/* A tail that no signalled request follows would never complete: one more message, signalled. It is not in the window. */
static int signal_tail(struct flow *flow, struct flow_ep *fep)
{
	int n = flow->drv->post(fep->ep, 1, POST_LAST);

	if (n < 0)
		return flow_fail(flow);
	if (n > 0) {
		fep->outstanding++;
		fep->posted++;
		fep->tail_signalled = true;
	}
	return 0;
}

/* A message of a stream may have gone in part: its rest follows, so that both sides stand between two messages. */
static int finish_half(struct flow *flow, struct flow_ep *fep, uint64_t *left)
{
	int n = flow->sends ? flow->drv->finish(fep->ep) : 0;

	if (n == -EAGAIN) {
		(*left)++;
		return 0;
	}
	if (n < 0)
		return flow_fail(flow);
	fep->outstanding += (uint32_t)n;
	fep->posted += (uint64_t)n;
	return 0;
}

static bool tail_hangs(const struct flow *flow, const struct flow_ep *fep)
{
	return fep->outstanding && !fep->tail_signalled && fep->posted % flow->spec->cq_mod;
}

/* One endpoint on its way to nothing outstanding; adds what is. */
static int end_one(struct flow *flow, struct flow_ep *fep, uint64_t *left)
{
	int rc = tail_hangs(flow, fep) ? signal_tail(flow, fep) : 0;

	if (rc == 0)
		rc = finish_half(flow, fep, left);
	*left += fep->outstanding;
	return rc;
}

int flow_drain(struct flow *flow)
{
	int64_t limit = clock_now(flow->clock) + DRAIN_LIMIT_NS;
	uint64_t left;

	for (;;) {
		int rc;

		left = 0;
		for (uint32_t i = 0; i < flow->qps; i++) {
			struct flow_ep *fep = &flow->eps[i];

			if ((rc = end_one(flow, fep, &left)) < 0)
				return rc;
		}
		flow->drained_ns = clock_now(flow->clock);
		if (!left || flow_command(flow) == FLOW_ABORT)
			return 0;
		rc = flow_pump(flow);
		if (rc < 0)
			return rc;
		if (rc == 0 && clock_now(flow->clock) > limit)
			break;
		if (rc == 0 && (rc = flow_idle_wait(flow, clock_now(flow->clock))) < 0)
			return rc;
	}
	return error_set(&flow->error, -ETIMEDOUT,
			 "worker %u: %llu messages were still not completed 10 s after the end of the traffic",
			 flow->index, (unsigned long long)left);
}

int flow_serve(struct flow *flow)
{
	int rc = 0;

	while (rc >= 0 && flow_command(flow) < FLOW_FINISH) {
		rc = flow_pump(flow);
		if (rc == 0)
			rc = flow_idle_wait(flow, clock_now(flow->clock));
		if (rc >= 0)
			rc = meter_check(flow);
	}
	meter_close(flow, clock_now(flow->clock));
	return rc < 0 ? rc : 0;
}

bool flow_expects_more(struct flow *flow, int64_t now, int64_t *quiet_since)
{
	uint64_t expected = atomic_load_explicit(&flow->control->expected, memory_order_relaxed);
	uint64_t news = flow->received - flow->reported, arrived;

	flow->reported = flow->received;
	arrived = atomic_fetch_add(&flow->control->arrived, news) + news;
	if (news || !*quiet_since)
		*quiet_since = now;
	if (arrived >= expected || flow_command(flow) == FLOW_ABORT)
		return false;
	return now - *quiet_since < (flow->control->quiet_ns ? flow->control->quiet_ns : EXPECT_LIMIT_NS);
}
