/* What both simulations of a switch have in common: their description's sense, and asking senders to pause. */
#include "model/sim.h"

#include "base/error.h"

#include <errno.h>
#include <math.h>

#define BYTE_SLACK 1e-3 /* bytes that rounding may leave */

static int check_flow(const struct sim *sim, uint32_t index, struct error *err)
{
	const struct sim_flow *const flow = &sim->flow[index];

	if (flow->queue >= sim->queues)
		return error_set(err, -EINVAL, "flow %u goes to queue %u of %u", index, flow->queue, sim->queues);
	if (!(flow->rate > 0) || !(flow->bytes > 0) || !(flow->packet > 0) || !(flow->start >= 0) || !flow->senders)
		return error_set(err, -EINVAL, "flow %u has no rate, bytes, packets, start or senders", index);
	if (flow->bursts > 1 && !(flow->period > 0))
		return error_set(err, -EINVAL, "flow %u has several bursts and no period", index);
	return 0;
}

int sim_check(const struct sim *sim, struct error *err)
{
	const struct sim_switch *const box = &sim->box;
	int rc = 0;

	if (box->buffer.alpha > 0 ? !(box->buffer.pool > 0) : !(box->buffer.limit > 0))
		return error_set(err, -EINVAL, "a switch needs a pool with its alpha, or a limit");
	if (isfinite(box->ecn.kmin) && !(box->ecn.kmax > box->ecn.kmin))
		return error_set(err, -EINVAL, "ECN's upper threshold must be above its lower one");
	if (isfinite(box->xoff) && !(box->xon < box->xoff))
		return error_set(err, -EINVAL, "PFC must let go below the threshold at which it pauses");
	for (uint32_t q = 0; q < sim->queues; q++)
		if (!(sim->queue[q].drain > 0) || !sim->queue[q].copies)
			return error_set(err, -EINVAL, "queue %u does not drain", q);
	for (uint32_t i = 0; rc == 0 && i < sim->flows; i++)
		rc = check_flow(sim, i, err);
	return rc;
}

void sim_pfc_ask(struct sim_pfc *pfc, const struct sim_switch *box, double q, double now)
{
	const bool ask = pfc->asked ? q > box->xon + BYTE_SLACK : q >= box->xoff - BYTE_SLACK;

	if (isinf(box->xoff) || isfinite(pfc->due) || ask == pfc->asked)
		return;
	pfc->asked = ask;
	pfc->due = now + box->delay;
}

bool sim_pfc_act(struct sim_pfc *pfc, struct sim_outcome *outcome, double now)
{
	if (pfc->due > now + SIM_INSTANT)
		return false;
	pfc->due = INFINITY;
	pfc->paused = pfc->asked;
	if (pfc->paused)
		pfc->since = now;
	else
		outcome->paused += now - pfc->since;
	return true;
}
