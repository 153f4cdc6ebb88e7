/* Puts the bursts of all senders of a test together, in rank 0's clock. */
#include "plan/outcome.h"

#include <errno.h>
#include <stdlib.h>

static int make_sums(struct outcome_test *test, const struct spec *spec)
{
	if (!test->burst_sum)
		test->burst_sum = burst_sum_new(spec);
	if (!test->arrival_sum)
		test->arrival_sum = arrival_sum_new();
	if (!test->volley_sum)
		test->volley_sum = volley_sum_new();
	return test->burst_sum && test->arrival_sum && test->volley_sum ? 0 : -ENOMEM;
}

static int add(struct outcome *outcome, struct outcome_test *test, const struct connection *c,
	       const struct result *result)
{
	const struct plan *plan = outcome->plan;
	int rc = burst_sum_add(test->burst_sum, plan->endpoint[c->from].host, result_sender(result));

	if (rc == 0 && result_receiver(result))
		rc = arrival_sum_add(test->arrival_sum, c->to, result_receiver(result));
	return rc == 0 ? volley_sum_add(test->volley_sum, result) : rc;
}

int outcome_add_bursts(struct outcome *outcome, const struct connection *c, unsigned point, const struct result *result,
		       struct error *err)
{
	struct outcome_test *test = outcome_test(outcome, point, c->test);

	if (!result_sender(result) || !spec_bursts(&result->request.spec))
		return 0;
	if (make_sums(test, &outcome->plan->test[c->test].sweep.spec[point]) < 0 || add(outcome, test, c, result) < 0)
		return error_set(err, -ENOMEM, "no memory for the bursts of all senders");
	return 0;
}

/* Connections that the busiest endpoint has in one direction. */
static uint32_t busiest(const struct plan *plan, uint32_t test)
{
	uint32_t *count = calloc(plan->endpoints, 2 * sizeof(*count)), most = 0;
	struct plan_cursor cursor;
	struct connection c;

	plan_begin(&cursor, plan, PLAN_ALL_HOSTS);
	while (count && plan_next(&cursor, &c)) {
		uint32_t *const from = &count[2 * c.from], *const to = &count[2 * c.to + 1];

		if (c.test != test)
			continue;
		most = ++*from > most ? *from : most;
		most = ++*to > most ? *to : most;
	}
	free(count);
	return most;
}

static void drop(struct outcome_test *test)
{
	burst_sum_free(test->burst_sum);
	arrival_sum_free(test->arrival_sum);
	volley_sum_free(test->volley_sum);
	test->burst_sum = NULL;
	test->arrival_sum = NULL;
	test->volley_sum = NULL;
}

void outcome_end_bursts(struct outcome *outcome, unsigned point, uint32_t number)
{
	struct outcome_test *test = outcome_test(outcome, point, number);
	const struct spec *spec = &outcome->plan->test[number].sweep.spec[point];

	if (!test->burst_sum)
		return;
	burst_sum_end(test->burst_sum, (double)busiest(outcome->plan, number) * (double)(spec->qps * spec->workers),
		      &test->bursts);
	arrival_sum_end(test->arrival_sum, spec, test->bursts.ideal_us, &test->bursts.arrivals);
	volley_sum_end(test->volley_sum, spec, &test->bursts.volley);
	test->has_bursts = test->bursts.senders > 0;
	drop(test);
}

void outcome_drop_bursts(struct outcome *outcome)
{
	const uint32_t tests = outcome->test ? plan_points(outcome->plan) * outcome->plan->tests : 0;

	for (uint32_t i = 0; i < tests; i++)
		drop(&outcome->test[i]);
}
