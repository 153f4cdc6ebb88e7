/* Makes a plan of a scenario, and tells what each end of a connection is given to do. */
#include "plan/plan.h"

#include "base/error.h"
#include "plan/parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_release(struct plan_test *test)
{
	sweep_release(&test->sweep);
	free(test->endpoint);
	free(test->pair);
	free(test->bytes);
	free(test->sizes_file);
	free(test->by_host);
	free(test->first);
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	for (uint32_t i = 0; i < plan->hosts; i++)
		free(plan->host[i].name);
	for (uint32_t i = 0; i < plan->devices; i++)
		free(plan->device[i]);
	for (uint32_t i = 0; plan->test && i < plan->tests; i++)
		test_release(&plan->test[i]);
	free(plan->host);
	free(plan->device);
	free(plan->endpoint);
	free(plan->test);
	free(plan);
}

static void take(struct plan_test *test, struct scenario_test *from)
{
	memcpy(test->name, from->name, sizeof(test->name));
	test->role = from->role;
	test->pattern = from->pattern;
	test->direction = from->direction;
	test->partition = from->partition;
	test->peer_shifting = from->peer_shifting;
	test->iteration_sync = from->iteration_sync;
	test->no_matrix = from->no_matrix;
	test->sweep = from->sweep;
	from->sweep = (struct sweep){ 0 };
}

/* Which test a sentence speaks of, where there are several. */
static void name_test(const struct scenario *scenario, uint32_t index, struct error *err)
{
	if (scenario->test[index].where)
		error_prefix(err, "%s", scenario->test[index].where);
	else if (scenario->tests > 1)
		error_prefix(err, "test %u%s%s", index + 1, *scenario->test[index].name ? ", " : "",
			     scenario->test[index].name);
}

static int add_tests(struct plan *plan, struct plan_maker *maker, struct scenario *scenario, struct error *err)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < plan->tests; i++) {
		take(&plan->test[i], &scenario->test[i]);
		rc = plan_maker_add(maker, &plan->test[i], &scenario->test[i], err);
		if (rc)
			name_test(scenario, i, err);
	}
	for (uint32_t i = 0; rc == 0 && i < plan->tests; i++) {
		rc = plan_connect(plan, i, &scenario->test[i].ptini, err);
		if (rc)
			name_test(scenario, i, err);
		plan->connections += plan->test[i].connections;
		if (plan->test[i].rounds > plan->rounds)
			plan->rounds = plan->test[i].rounds;
	}
	return rc;
}

int plan_build(struct plan **ret, struct scenario *scenario, struct error *err)
{
	struct plan *plan = calloc(1, sizeof(*plan));
	struct plan_maker *maker = NULL;
	int rc = 0;

	if (!plan)
		return error_set(err, -ENOMEM, "no memory for a plan");
	plan->tests = scenario->tests;
	plan->test = calloc(plan->tests, sizeof(*plan->test));
	if (!plan->test)
		rc = error_set(err, -ENOMEM, "no memory for %u tests", plan->tests);
	if (rc == 0)
		rc = plan_maker_open(&maker, plan, err);
	if (rc == 0)
		rc = add_tests(plan, maker, scenario, err);
	plan_maker_close(maker);
	if (rc == 0)
		*ret = plan;
	else
		plan_free(plan);
	return rc;
}

int plan_of_request(struct plan **ret, struct request *request, const struct request_host *host, struct error *err)
{
	struct scenario scenario = { 0 };
	int rc = scenario_of_request(&scenario, request, host, err);

	if (rc == 0)
		rc = plan_build(ret, &scenario, err);
	scenario_release(&scenario);
	return rc;
}

void plan_spec(const struct plan *plan, const struct connection *connection, bool requestor, unsigned point,
	       struct spec *ret)
{
	const struct endpoint *end = &plan->endpoint[requestor ? connection->from : connection->to];

	*ret = plan->test[connection->test].sweep.spec[point];
	if (*plan->device[end->device])
		snprintf(ret->device, sizeof(ret->device), "%s", plan->device[end->device]);
	if (end->gpu != PLAN_NO_GPU)
		ret->gpu = end->gpu;
	if (connection->bytes)
		ret->size = connection->bytes;
	ret->bidirectional = connection->both;
}

char *plan_label(const struct plan *plan, uint32_t endpoint, char *ret)
{
	const struct endpoint *end = &plan->endpoint[endpoint];
	const char *device = plan->device[end->device];
	size_t len =
		(size_t)snprintf(ret, PLAN_LABEL, "%s%s%s", plan->host[end->host].name, *device ? ":" : "", device);

	if (end->gpu != PLAN_NO_GPU && len < PLAN_LABEL)
		snprintf(ret + len, PLAN_LABEL - len, ":gpu%u", end->gpu);
	return ret;
}
