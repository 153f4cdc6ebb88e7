/* The threads: one a flow, bound to its core, from the common start instant to the end of the phase. */
#include "base/topo.h"
#include "engine/engine.h"
#include "engine/volley.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define WAKE_NS     200000LL /* a wake-up may come so late on a host that is not busy */
#define WAIT_MAX_NS 20000000LL /* how late a command is noticed */

struct workers {
	unsigned count;
	struct flow *flows;
	struct thread {
		pthread_t id;
		bool started;
	} thread[];
};

/*
 * All sides begin at the same instant. A thread that only yields until then has used up its turn on a busy host and would
 * begin late; one that waits for the clock is woken in time. The rest, shorter than a wake-up, it yields.
 */
static void await_start(struct flow *flow)
{
	int64_t left;

	while ((left = flow->phase.start_ns - clock_now(flow->clock)) > 0 && flow_command(flow) == FLOW_RUN) {
		const int64_t wait = left - WAKE_NS < WAIT_MAX_NS ? left - WAKE_NS : WAIT_MAX_NS;

		if (wait > 0)
			ppoll(NULL, 0, &(struct timespec){ .tv_nsec = wait }, NULL);
		else
			sched_yield();
	}
}

static void set_quota(struct flow *flow)
{
	for (uint32_t i = 0; i < flow->qps; i++)
		flow->eps[i].left = flow->phase.quota ? flow->phase.quota : UINT64_MAX;
}

static void carry_out(struct flow *flow)
{
	if (flow->phase.volley)
		volley_run(flow);
	else if (flow->spec->bidirectional)
		flow->engine->both(flow);
	else if (flow->active)
		flow->engine->active(flow);
	else if (flow->serves)
		flow_serve(flow);
	else
		flow->engine->passive(flow);
}

static void *worker_main(void *argument)
{
	struct flow *flow = argument;

	if (topo_bind_thread(flow->topo, flow->core, &flow->error) == 0) {
		set_quota(flow);
		await_start(flow);
		meter_start(flow);
		carry_out(flow);
	}
	flow->result->total_sent = flow->sent;
	flow->result->total_received = flow->received;
	flow->result->error = flow->error;
	flow_sent_all(flow);
	if (flow->error.code)
		atomic_fetch_add(&flow->control->failed, 1);
	atomic_fetch_sub(&flow->control->running, 1);
	return NULL;
}

int workers_start(struct flow *flows, unsigned count, struct workers **ret, struct error *err)
{
	struct workers *w = calloc(1, sizeof(*w) + count * sizeof(w->thread[0]));

	if (!w)
		return error_set(err, -ENOMEM, "no memory for %u workers", count);
	w->count = count;
	w->flows = flows;
	*ret = w;
	for (unsigned i = 0; i < count; i++) {
		int rc;

		if (flows[i].idle)
			continue;
		atomic_fetch_add(&flows[i].control->running, 1);
		atomic_fetch_add(&flows[i].control->sending, flows[i].sends);
		flows[i].sending = flows[i].sends;
		rc = pthread_create(&w->thread[i].id, NULL, worker_main, &flows[i]);
		if (rc) {
			atomic_fetch_sub(&flows[i].control->running, 1);
			flow_sent_all(&flows[i]);
			atomic_store(&flows[i].control->command, FLOW_ABORT);
			return error_sys(err, -rc, "cannot start worker %u", i);
		}
		w->thread[i].started = true;
	}
	return 0;
}

/* Until all have ended, for at most so long (negative: however long that takes). */
static bool all_end(const struct flow *flow, int64_t patience_ns)
{
	const int64_t until = clock_now(flow->clock) + patience_ns;

	while (patience_ns >= 0 && atomic_load(&flow->control->running)) {
		if (clock_now(flow->clock) >= until)
			return false;
		poll(NULL, 0, 1);
	}
	return true;
}

int workers_join(struct workers *workers, int64_t patience_ns, struct error *err)
{
	int rc = 0;

	if (!workers)
		return 0;
	if (!all_end(&workers->flows[0], patience_ns))
		return -ETIMEDOUT;
	for (unsigned i = 0; i < workers->count; i++) {
		const struct flow *flow = &workers->flows[i];

		if (!workers->thread[i].started)
			continue;
		pthread_join(workers->thread[i].id, NULL);
		if (flow->error.code && !rc)
			rc = error_set(err, flow->error.code, "%s", flow->error.text);
	}
	free(workers);
	return rc;
}
