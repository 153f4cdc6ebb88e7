/* Tests of both directions: each direction as a one-way result of its own, their sum, and their common window. */
#include "spec/result.h"

#include <string.h>

#define CPU_PART 100 /* CPU time of a window that was less than this part longer counts as the window's */

unsigned result_directions(const struct result *result)
{
	const bool both = result->measured && result->request.spec.bidirectional && result->ranks == 2;

	return both && !result->direction ? 2 : 1;
}

void result_direction(const struct result *result, unsigned number, struct direction *ret)
{
	const uint32_t ranks = result->ranks < 2 ? result->ranks : 2;

	ret->result = *result;
	ret->result.ranks = ranks;
	ret->result.rank = ret->rank;
	if (ranks)
		memcpy(ret->rank, result->rank, ranks * sizeof(ret->rank[0]));
	if (result_directions(result) == 1)
		return;
	ret->result.direction = number + 1;
	for (uint32_t i = 0; i < ranks; i++) {
		ret->rank[i].active = i == number;
		ret->rank[i].counts_received = i != number && result->rank[i].counts_received;
	}
}

struct rate result_rate(const struct result *result)
{
	const unsigned directions = result_directions(result);
	struct rate total = { 0 };

	for (unsigned i = 0; i < directions; i++) {
		struct direction way;
		struct rate rate;

		result_direction(result, i, &way);
		rate = rank_rate(&way.result, result_authority(&way.result));
		total.gbps += rate.gbps;
		total.mpps += rate.mpps;
		total.seconds += rate.seconds / directions;
		total.messages += rate.messages;
		total.bytes += rate.bytes;
	}
	return total;
}

static void extend(struct worker_result *worker, int64_t end_ns)
{
	const int64_t more = end_ns - worker->end_ns;

	if (more <= 0 || !worker_has_window(worker))
		return;
	if (more > (worker->end_ns - worker->begin_ns) / CPU_PART)
		worker->cpu_user_ns = worker->cpu_system_ns = -1;
	worker->end_ns = end_ns;
}

void result_join_windows(struct result *result)
{
	struct rank_result *a = &result->rank[0], *b = &result->rank[1];

	if (result_directions(result) == 1 || !result->request.spec.iterations)
		return;
	for (uint32_t i = 0; i < a->workers && i < b->workers; i++) {
		const int64_t shift = b->clock_offset_ns - a->clock_offset_ns;
		const int64_t end = a->worker[i].end_ns;

		extend(&a->worker[i], b->worker[i].end_ns - shift);
		extend(&b->worker[i], end + shift);
	}
}
