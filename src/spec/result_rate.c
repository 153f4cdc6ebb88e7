/* Bandwidth and message rate of one side, and of one operation of a list. */
#include "spec/result.h"

uint64_t worker_counted(const struct rank_result *rank, const struct worker_result *worker)
{
	return rank->active ? worker->sent : worker->received;
}

/* What one worker counted. */
struct tally {
	uint64_t messages, bytes;
};

static void rate_add(struct rate *rate, const struct worker_result *worker, struct tally tally)
{
	const double seconds = worker_seconds(worker);

	rate->seconds += seconds;
	rate->messages += tally.messages;
	rate->bytes += tally.bytes;
	rate->mpps += (double)tally.messages / seconds / 1e6;
	rate->gbps += (double)tally.bytes / seconds * 8 / 1e9;
}

static uint64_t list_bytes(const struct spec *spec, const struct rank_result *rank, const struct worker_result *worker)
{
	struct spec_op op[SPEC_OPS];
	uint64_t bytes = 0;

	if (!rank->active)
		return worker->received_bytes;
	for (unsigned ops = spec_ops(spec, op); ops; ops--)
		bytes += worker->op_sent[ops - 1] * op[ops - 1].size;
	return bytes;
}

struct rate rank_rate(const struct result *result, const struct rank_result *rank)
{
	const struct spec *const spec = &result->request.spec;
	struct rate rate = { 0 };
	unsigned windows = 0;

	for (uint32_t i = 0; rank && i < rank->workers; i++) {
		const struct worker_result *worker = &rank->worker[i];
		const uint64_t messages = worker_counted(rank, worker);

		if (!worker_has_window(worker))
			continue;
		windows++;
		rate_add(&rate, worker,
			 (struct tally){ messages, spec_has_list(spec) ? list_bytes(spec, rank, worker)
								       : messages * spec->size });
	}
	if (windows)
		rate.seconds /= windows;
	return rate;
}

struct rate result_op_rate(const struct result *result, unsigned op)
{
	const struct rank_result *rank = result_sender(result);
	struct spec_op list[SPEC_OPS];
	struct rate rate = { 0 };
	unsigned windows = 0;

	spec_ops(&result->request.spec, list);
	for (uint32_t i = 0; rank && i < rank->workers; i++) {
		const struct worker_result *worker = &rank->worker[i];
		const uint64_t messages = worker->op_sent[op];

		if (!worker_has_window(worker))
			continue;
		windows++;
		rate_add(&rate, worker, (struct tally){ messages, messages * list[op].size });
	}
	if (windows)
		rate.seconds /= windows;
	return rate;
}

bool result_is_empty(const struct result *result)
{
	struct latency latency;

	if (result->request.spec.metric == METRIC_LAT)
		return !result_latency(result, &latency) && !result_unanswered(result);
	for (unsigned i = 0; i < result_directions(result); i++) {
		struct direction way;

		result_direction(result, i, &way);
		if (rank_rate(&way.result, result_sender(&way.result)).messages == 0)
			return true;
	}
	return false;
}
