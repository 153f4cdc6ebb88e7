/* The load of an open loop: what was asked for, what came of it, and how well the schedule was kept. */
#include "spec/result.h"

#define SHARE_LIMIT 100 /* a hundredth of what was due */
#define FEW         10 /* messages that are under way anyway */

static void add_worker(const struct spec *spec, const struct worker_result *worker, struct load_kept *ret,
		       uint64_t *done, double *late_ns)
{
	const bool answers = spec->metric == METRIC_LAT && latency_is_ping_pong(spec);
	const uint64_t messages = answers ? worker->received : worker->sent;
	const double late_max_us = (double)worker->pacing.late_max_ns / 1e3;

	*done += messages;
	*late_ns += (double)worker->pacing.late_sum_ns;
	ret->done_mpps += (double)messages * 1e3 / (double)(worker->end_ns - worker->begin_ns);
	ret->due += worker->pacing.due;
	ret->late += worker->pacing.late;
	ret->behind += worker->pacing.behind;
	ret->missed += worker->pacing.missed;
	ret->late_max_us = late_max_us > ret->late_max_us ? late_max_us : ret->late_max_us;
}

bool result_load(const struct result *result, struct load_kept *ret)
{
	const struct spec *spec = &result->request.spec;
	const struct rank_result *sender = result_sender(result);
	const double mpps_to_gbps = (double)spec->size * 8 / 1e3;
	uint64_t done = 0, posted;
	double late_ns = 0;
	unsigned windows = 0;

	*ret = (struct load_kept){ 0 };
	for (uint32_t i = 0; sender && i < sender->workers; i++) {
		if (!worker_has_window(&sender->worker[i]))
			continue;
		add_worker(spec, &sender->worker[i], ret, &done, &late_ns);
		windows++;
	}
	if (!spec_is_paced(spec) || !windows)
		return false;
	posted = ret->due - ret->missed;
	ret->asked_mpps = spec_load_mps(spec) / 1e6;
	ret->asked_gbps = ret->asked_mpps * mpps_to_gbps;
	ret->done_gbps = ret->done_mpps * mpps_to_gbps;
	ret->late_mean_us = posted ? late_ns / (double)posted / 1e3 : 0;
	ret->sustained = ret->due <= done + (ret->due / SHARE_LIMIT > FEW ? ret->due / SHARE_LIMIT : FEW);
	return true;
}
