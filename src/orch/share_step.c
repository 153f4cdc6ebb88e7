/* Iterations in step on one rank: behind each, all ranks agree on the instant at which the next one begins. */
#include "engine/lockstep.h"
#include "orch/overdue.h"
#include "orch/share.h"

#include <errno.h>
#include <stdlib.h>

#define STEP_LEAD_NS 300000LL /* from the message to the instant, plus some round trips and a part for each rank */
#define STEP_RANK_NS 20000LL
#define STEP_TICK_NS 20000LL
#define STEP_BYTE_NS 1000LL /* no link is slower */

static bool compares(const struct share *share, const struct group *group)
{
	return share->plan->test[group->test].sweep.spec[0].validate;
}

static int open_checks(const struct share *share, const struct group *group, struct flow *flow, struct error *err)
{
	struct step_checks *checks = calloc(1, sizeof(*checks));

	flow->checks = checks;
	if (checks) {
		checks->seed = calloc(flow->qps, sizeof(*checks->seed));
		checks->check = calloc(flow->qps, sizeof(*checks->check));
	}
	if (!checks || !checks->seed || !checks->check)
		return error_set(err, -ENOMEM, "no memory for data validation");
	for (uint32_t i = 0; i < flow->qps; i++) {
		const struct member *member = &share->member[group->first + i / share->member[group->first].qps];

		checks->seed[i] = share->plan->test[group->test].sweep.spec[0].seed ^
				  (member->c.key * 1024 + i % member->qps + ((uint64_t)member->c.test << 48));
	}
	return 0;
}

int step_open(const struct share *share, const struct group *group, struct flow *flow, struct error *err)
{
	return compares(share, group) ? open_checks(share, group, flow, err) : 0;
}

void step_close(struct flow *flow)
{
	if (!flow->checks)
		return;
	free(flow->checks->seed);
	free(flow->checks->check);
	free(flow->checks);
	flow->checks = NULL;
}

void step_collect(const struct flow *flow, const struct member *member, struct worker_result *worker,
		  struct rank_result *end)
{
	const unsigned arrivals = lockstep_arrivals(flow->spec);

	worker->total_sent /= 2;
	worker->total_received /= arrivals;
	for (uint32_t i = member->slot * member->qps; flow->checks && i < (member->slot + 1) * member->qps; i++) {
		const struct step_check *check = &flow->checks->check[i];

		worker->validated += check->compared;
		worker->invalid += check->wrong;
		worker->invalid_bytes += check->wrong_bytes;
		if (check->wrong) {
			struct invalid first = check->first;

			first.qp -= member->slot * member->qps;
			rank_result_log(end, &first, 1);
		}
	}
}

/* Iterations that all workers of this rank have ended when step number `step` is over. */
static uint64_t ended_by(const struct share *share, uint64_t step)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < share->flows; i++) {
		const uint64_t steps = share->flow[i].phase.quota / 2;

		sum += share->flow[i].idle ? 0 : step + 1 < steps ? step + 1 : steps;
	}
	return sum;
}

static uint64_t most_steps(const struct plan *plan, unsigned point, bool measure)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < plan->tests; i++) {
		const struct spec *spec = &plan->test[i].sweep.spec[point];
		const uint64_t steps = measure ? spec->iterations : spec->warmup_iterations;

		most = steps > most ? steps : most;
	}
	return most;
}

int step_wishes(struct many *many, int64_t deadline_ns, struct error *err)
{
	struct buf mine = BUF_INIT, *all = calloc(many->comm->size, sizeof(*all));
	int rc;

	buf_put_u8(&mine, many->interrupted);
	rc = mine.failed || !all ? error_set(err, -ENOMEM, "no memory for %u ranks", many->comm->size)
				 : comm_gather(many->comm, &mine, all, deadline_ns, err);
	for (unsigned i = 0; all && i < many->comm->size; i++) {
		many->interrupted |= rc == 0 && all[i].len && all[i].data[0];
		buf_release(&all[i]);
	}
	free(all);
	buf_release(&mine);
	return rc;
}

/* What this rank sends and takes in an iteration. */
static int64_t step_bytes(const struct share *share)
{
	int64_t bytes = 0;

	for (uint32_t i = 0; i < share->members; i++) {
		const struct group *group = &share->group[share->member[i].group];

		bytes += (int64_t)group->workers * share->member[i].qps * (int64_t)group->spec.size;
	}
	return bytes;
}

static int await_step(struct many *many, uint64_t step, int64_t longest_ns, struct error *err)
{
	struct flow_control *control = &many->share.control;
	const int64_t deadline = clock_now(many->conf->clock) + longest_ns;
	const uint64_t due = ended_by(&many->share, step);
	int rc = 0;

	while (rc == 0 && !many->interrupted && atomic_load(&control->stepped) < due) {
		rc = traffic_attend(many, STEP_TICK_NS, err);
		if (rc == 0 && clock_now(many->conf->clock) > deadline)
			rc = error_set(err, -ETIMEDOUT, "iteration %llu has not ended after %lld s",
				       (unsigned long long)step + 1, (long long)(longest_ns / 1000000000));
	}
	return rc;
}

/*
 * Whoever knows already that it ends takes part until rank 0 tells so: all ranks make the same calls. A rank that waits for
 * another one's iteration leaves it to that one to say that it lasts too long.
 */
int step_run(struct many *many, bool measure, int64_t start_ns, struct error *err)
{
	struct flow_control *control = &many->share.control;
	const uint64_t steps = most_steps(many->conf->plan, many->stage.point, measure);
	const int64_t lead = STEP_LEAD_NS + STEP_RANK_NS * many->comm->size + 4 * many->clocks.rtt_ns;
	const int64_t longest = OVERDUE_NS + STEP_BYTE_NS * step_bytes(&many->share);
	int rc = 0;

	for (uint64_t step = 0; rc == 0 && step < steps; step++) {
		if (step)
			rc = traffic_agree_start(many, lead, FOR_EVER_NS, &start_ns, err);
		if (rc == 0 && many->interrupted)
			break;
		atomic_store(&control->step_ns, start_ns);
		atomic_store_explicit(&control->step, step + 1, memory_order_release);
		if (rc == 0)
			rc = await_step(many, step, longest, err);
		traffic_hear(many, many->comm->rank == 0); /* the others make no call in which they could tell it */
		if (rc == 0)
			rc = step_wishes(many, FOR_EVER_NS, err);
		traffic_hear(many, false);
	}
	return rc;
}
