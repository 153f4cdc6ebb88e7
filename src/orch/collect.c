/* A rank's result from its flows, and the results of all ranks at rank 0. */
#include "base/buf.h"
#include "base/procfs.h"
#include "mem/mem.h"
#include "orch/run.h"

#include <errno.h>
#include <string.h>

/* VmHWM, as ru_maxrss takes over the peak of the process that started this one. 0 when it cannot be read. */
uint64_t resident_bytes(void)
{
	return procfs_number("/proc/self/status", "VmHWM:") * 1024;
}

static void collect_counters(const struct flow *flow)
{
	struct worker_result *r = flow->result;

	r->both_ways = flow->spec->bidirectional;
	r->has_loss = flow->caps.counts_loss && flow->receives;
	for (uint32_t i = 0; r->has_loss && i < flow->qps; i++) {
		struct counters c;

		flow->drv->counters(flow->eps[i].ep, &c);
		r->lost += c.lost;
		r->duplicated += c.duplicated;
		r->reordered += c.reordered;
	}
}

/* Messages that arrived and were not ones of this test. */
static uint64_t bad_messages(const struct run *run)
{
	uint64_t bad = 0;

	for (unsigned i = 0; i < run->workers; i++) {
		for (uint32_t j = 0; j < run->flows[i].qps; j++) {
			struct counters c;

			run->drv->counters(run->flows[i].eps[j].ep, &c);
			bad += c.bad;
		}
	}
	return bad;
}

static void collect_facts(const struct run *run, struct facts *ret)
{
	const struct flow *first = &run->flows[0];
	uint64_t bad = bad_messages(run);

	ret->count = 0;
	first->drv->facts(first->port, ret);
	mem_facts(first->mem, ret);
	facts_add(ret, "completionMode", "Completions", "%s",
		  first->idle     ? "none (the device answers alone)"
		  : first->serves ? "polling for the other side's sake"
		  : first->block  ? "events (sleeping)"
		  : first->yield  ? "polling, giving way on a shared core"
				  : "polling");
	facts_add_number(ret, "slotsPerQp", "Slots per QP", first->slots);
	facts_add(ret, "clockDriftPpm", "Clock against kernel's, ppm", "%.3f", clock_drift_ppm(run->conf->clock));
	if (bad)
		facts_add_number(ret, "badMessages", "Foreign or cut messages", (long long)bad);
}

static void collect_flow(struct run *run, const struct flow *flow)
{
	collect_counters(flow);
	if (validate_collect(flow, &run->mine) < 0 && !run->mine.error.code)
		error_set(&run->mine.error, -ENOMEM, "no memory for the wrong messages");
}

void collect_mine(struct run *run)
{
	struct rank_result *mine = &run->mine;
	const struct flow *first = &run->flows[0];

	mine->active = run->active;
	mine->clock_offset_ns = run->comm->rank ? run->clock_offset_ns : 0;
	mine->clock_error_ns = run->comm->rank ? run->clock_error_ns : 0;
	mine->rss_bytes = resident_bytes();
	mine->cores_shared = run->cores_shared;
	mine->mem = run->spec.mem;
	mine->delivery = first->caps.delivery;
	mine->counts_received = first->receives && run_sees_all(&run->spec);
	mine->buffer_bytes = run->workers * flow_buffer_bytes(&run->spec, first->caps.stride_align, NULL);
	collect_facts(run, &mine->facts);
	for (unsigned i = 0; i < run->workers; i++)
		collect_flow(run, &run->flows[i]);
}

int collect_all(struct run *run, struct result *result, struct error *err)
{
	struct buf mine = BUF_INIT, all[2] = { BUF_INIT, BUF_INIT };
	int rc;

	rank_result_pack(&run->mine, &mine);
	rc = mine.failed ? error_set(err, mine.failed, "no memory for the result")
			 : comm_gather(run->comm, &mine, all, run_deadline(run), err);
	for (unsigned i = 0; rc == 0 && run->comm->rank == 0 && i < run->comm->size; i++) {
		struct cursor from;

		cursor_init(&from, all[i].data, all[i].len);
		rc = rank_result_unpack(&result->rank[i], &from);
		if (rc < 0)
			error_set(err, rc, "the result of %s cannot be read", i ? run->comm->peer_name : "this host");
	}
	for (unsigned i = 0; i < 2; i++)
		buf_release(&all[i]);
	buf_release(&mine);
	return rc;
}
