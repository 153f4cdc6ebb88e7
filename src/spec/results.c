/* The results of a run's tests: one each, and what they come to as a whole. */
#include "spec/result.h"
#include "spec/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int results_init(struct results *results, const struct request *request)
{
	*results = (struct results){ .request = *request, .asked = 1, .begun = 1 };
	results->result = calloc(1, sizeof(*results->result));
	if (!results->result)
		return -ENOMEM;
	result_init(results->result, request, 2);
	return 0;
}

int results_expect(struct results *results, const struct request *request, const struct sweep *sweep)
{
	struct result *result = calloc(sweep->count, sizeof(*result));

	if (!result)
		return -ENOMEM;
	for (unsigned i = 0; i < sweep->count; i++) {
		const struct request one = sweep_request(sweep, request, i);

		result_init(&result[i], &one, 2);
	}
	results_release(results);
	results->request = *request;
	results->asked = sweep->count;
	results->result = result;
	return 0;
}

void results_release(struct results *results)
{
	for (unsigned i = 0; results->result && i < results->asked; i++)
		result_release(&results->result[i]);
	free(results->result);
	results->result = NULL;
}

static int badness(enum run_status status)
{
	static const int of[] = { [RUN_OK] = 0, [RUN_THRESHOLD] = 1, [RUN_INTERRUPTED] = 2, [RUN_FAILED] = 3 };

	return of[status];
}

void results_conclude(struct results *results)
{
	results->status = RUN_OK;
	results->worst = results->begun - 1;
	for (unsigned i = 0; i < results->begun; i++) {
		const struct result *result = &results->result[i];

		if (badness(result->status) <= badness(results->status))
			continue;
		results->status = result->status;
		results->error = result->error;
		results->worst = i;
	}
	if (results->begun < results->asked && badness(results->status) < badness(RUN_INTERRUPTED)) {
		results->status = RUN_INTERRUPTED;
		error_set(&results->error, -EINTR, "interrupted");
	}
}
