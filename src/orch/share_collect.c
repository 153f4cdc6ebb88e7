/* A rank's part of a scenario's results: one result for each of its ends, cut out of its groups' workers; counters of its NICs. */
#include "mem/mem.h"
#include "orch/share.h"
#include "spec/part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Losses that sequence numbers show, on the queue pairs of one end. */
static void add_counters(const struct flow *flow, uint32_t first, uint32_t count, struct worker_result *ret)
{
	if (flow->validation) /* which tells of them itself */
		return;
	ret->has_loss = flow->caps.counts_loss && flow->receives;
	ret->lost = ret->duplicated = ret->reordered = 0;
	for (uint32_t i = first; ret->has_loss && i < first + count; i++) {
		struct counters c;

		flow->drv->counters(flow->eps[i].ep, &c);
		ret->lost += c.lost;
		ret->duplicated += c.duplicated;
		ret->reordered += c.reordered;
	}
}

/* Of a worker that several ends share: what its queue pairs of one end have counted. The rest is no single end's. */
static void cut(const struct flow *flow, uint32_t first, uint32_t count, struct worker_result *ret)
{
	ret->sent = ret->received = ret->total_sent = ret->total_received = 0;
	ret->cpu_user_ns = ret->cpu_system_ns = -1;
	ret->interval_ns = 0;
	ret->intervals = 0;
	for (uint32_t i = first; i < first + count; i++) {
		const struct qp_count *qp = &flow->result->qp[i];

		ret->sent += qp->sent[1] - qp->sent[0];
		ret->received += qp->received[1] - qp->received[0];
		ret->total_sent += flow->eps[i].sent;
		ret->total_received += flow->eps[i].received;
	}
}

static void collect_worker(const struct share *share, const struct member *member, uint32_t i,
			   struct worker_result *ret)
{
	const struct flow *flow = member_flow(share, member, i);
	const uint32_t first = member->slot * member->qps;

	*ret = *flow->result;
	ret->qps = member->qps;
	ret->qp = NULL;
	ret->qp_count = 0;
	if (member->slot) { /* bursts are the worker's, not one end's */
		ret->bursts = NULL;
		ret->arrivals = NULL;
	}
	if (flow->volley_ns) {
		ret->volleys = RESULT_VOLLEYS;
		memcpy(ret->volley_ns, flow->volley_ns + member->slot * RESULT_VOLLEYS, sizeof(ret->volley_ns));
	}
	if (share->plan->test[member->c.test].sweep.spec[0].qp_histogram && flow->result->qp_count) {
		ret->qp = flow->result->qp + first;
		ret->qp_count = member->qps;
	}
	ret->both_ways = flow->spec->bidirectional;
	if (share->group[member->group].members > 1)
		cut(flow, first, member->qps, ret);
	add_counters(flow, first, member->qps, ret);
}

static void collect_end(const struct many *many, const struct member *member, struct worker_result *workers,
			struct buf *to)
{
	const struct share *share = &many->share;
	const struct group *group = &share->group[member->group];
	const struct flow *first = member_flow(share, member, 0);
	struct rank_result end = many->mine;

	end.invalid = NULL;
	end.invalids = 0;
	end.active = member->active;
	end.mem = group->spec.mem;
	end.delivery = first->caps.delivery;
	end.counts_received = first->receives &&
			      run_sees_all(&share->plan->test[member->c.test].sweep.spec[0]); /* as it was asked for */
	end.buffer_bytes =
		group->workers * flow_buffer_bytes(&group->spec, first->caps.stride_align, NULL) / group->members;
	end.workers = group->workers;
	end.worker = workers;
	if (member->slot == 0) { /* those of a group have them in common */
		first->drv->facts(first->port, &end.facts);
		mem_facts(first->mem, &end.facts);
	}
	for (uint32_t i = 0; i < group->workers; i++) {
		struct flow *flow = member_flow(share, member, i);

		if (validate_collect(flow, &end) < 0)
			error_set(&end.error, -ENOMEM, "no memory for the wrong messages");
		collect_worker(share, member, i, &workers[i]);
		if (plan_in_step(share->plan))
			step_collect(flow, member, &workers[i], &end);
		if (workers[i].error.code && !end.error.code)
			end.error = workers[i].error;
	}
	if (member->error)
		end.error = *member->error;
	part_end_pack(member->c.test, member->c.key, &end, to);
	free(end.invalid);
}

static uint32_t most_workers(const struct share *share)
{
	uint32_t most = 1;

	for (uint32_t i = 0; i < share->groups; i++)
		most = share->group[i].workers > most ? share->group[i].workers : most;
	return most;
}

void share_collect(struct many *many, struct buf *ret)
{
	const struct share *share = &many->share;
	struct worker_result *workers = calloc(most_workers(share), sizeof(*workers));
	struct part_head head = { .rss_bytes = resident_bytes(),
				  .cores_shared = many->mine.cores_shared,
				  .interrupted = many->interrupted,
				  .ends = share->members };

	memcpy(head.host, many->mine.host, sizeof(head.host));
	memcpy(head.version, many->mine.version, sizeof(head.version));
	many->mine.rss_bytes = head.rss_bytes;
	part_head_pack(&head, ret);
	port_counters_pack(&many->counters, ret);
	for (uint32_t i = 0; workers && i < share->members; i++)
		collect_end(many, &share->member[i], workers, ret);
	if (!workers)
		ret->failed = -ENOMEM;
	free(workers);
}

/* --- counters of what the messages passed --- */

void share_count_before(struct many *many)
{
	const struct share *share = &many->share;

	many->nics.count = 0;
	port_counters_release(&many->stage_counters);
	for (uint32_t i = 0; i < share->flows; i++) {
		const struct flow *flow = &share->flow[i];
		struct nic nic;

		if (flow->spec->counters != CHOICE_ON)
			continue;
		flow->drv->nic(flow->port, &nic);
		nics_add(&many->nics, &nic);
	}
	counters_before(many->conf->sysfs, &many->nics, &many->stage_counters);
}

void share_count_after(struct many *many)
{
	counters_after(many->conf->sysfs, &many->nics, many->conf->clock, &many->stage_counters);
	port_counters_join(&many->counters, &many->stage_counters);
}
