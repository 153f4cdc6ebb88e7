/* What data validation found: the wrong messages of all workers, and their number. */
#include "spec/result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int rank_result_log(struct rank_result *rank, const struct invalid *invalid, uint32_t count)
{
	const uint32_t room = RESULT_INVALIDS - rank->invalids, taken = count < room ? count : room;
	struct invalid *all;

	if (!taken)
		return 0;
	all = realloc(rank->invalid, (rank->invalids + taken) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	memcpy(all + rank->invalids, invalid, taken * sizeof(*all));
	rank->invalid = all;
	rank->invalids += taken;
	return 0;
}

bool result_validity(const struct result *result, struct validity *ret)
{
	const struct rank_result *receiver = result_receiver(result);
	struct validity v = { 0 };

	if (!result->request.spec.validate || !receiver || !receiver->counts_received)
		return false;
	for (uint32_t i = 0; i < receiver->workers; i++) {
		v.messages += receiver->worker[i].validated;
		v.invalid += receiver->worker[i].invalid;
		v.invalid_bytes += receiver->worker[i].invalid_bytes;
	}
	v.logged = receiver->invalids;
	v.log = receiver->invalid;
	*ret = v;
	return true;
}
