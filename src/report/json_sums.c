/* Sums of a scenario's connections in its result document: by host, device and process, by pair; the best and the worst. */
#include "report/json_sums.h"

#include "report/tree.h"

#include <stdlib.h>

static bool is_latency(const struct outcome *outcome, uint32_t test)
{
	return outcome->plan->test[test].sweep.spec[0].metric == METRIC_LAT;
}

static json_t *label(const struct plan *plan, uint32_t endpoint)
{
	char text[PLAN_LABEL];

	return tree_text(plan_label(plan, endpoint, text));
}

/* Which test's an entry is, and at which point of its lists. */
static json_t *entry(const struct outcome *outcome, unsigned point, uint32_t test, uint32_t host)
{
	const struct plan_test *planned = &outcome->plan->test[test];
	json_t *object = json_object();

	tree_put(&object, "test", tree_count(point * outcome->plan->tests + test));
	tree_put(&object, "testName", tree_text_or_null(planned->name));
	tree_put(&object, "hostName", tree_text(outcome->plan->host[host].name));
	return object;
}

/* sum: what goes out, what comes in. */
static void put_sums(json_t **object, bool latency, const struct outcome_sum *sum)
{
	tree_put(object, "requestorOf", tree_count(sum[0].connections));
	tree_put(object, "responderOf", tree_count(sum[1].connections));
	tree_put(object, "failedConnections",
		 tree_count(sum[0].connections - sum[0].good + sum[1].connections - sum[1].good));
	tree_put(object, latency ? "requestorMeanMedianUsec" : "sendGbSec", tree_real(sum[0].figure));
	tree_put(object, latency ? "responderMeanMedianUsec" : "receiveGbSec", tree_real(sum[1].figure));
}

static bool takes_part(const struct outcome_sum *sum)
{
	return sum[0].connections || sum[1].connections;
}

static void put_device(json_t **object, const struct plan *plan, uint32_t endpoint)
{
	const struct endpoint *end = &plan->endpoint[endpoint];

	tree_put(object, "deviceName", tree_text_or_null(plan->device[end->device]));
	tree_put(object, "cudaDeviceId", end->gpu == PLAN_NO_GPU ? json_null() : json_integer(end->gpu));
}

/* Entries of one test at one point. */
typedef void append_entries(const struct outcome *outcome, unsigned point, uint32_t test, json_t **array);

static void append_nodes(const struct outcome *outcome, unsigned point, uint32_t test, json_t **array)
{
	struct outcome_sum *host;

	if (outcome_hosts(outcome, point, test, &host) < 0) {
		tree_append(array, NULL);
		return;
	}
	for (uint32_t i = 0; i < outcome->plan->hosts; i++) {
		json_t *object;

		if (!takes_part(&host[2 * i]))
			continue;
		object = entry(outcome, point, test, i);
		put_sums(&object, is_latency(outcome, test), &host[2 * i]);
		tree_append(array, object);
	}
	free(host);
}

static void append_devices(const struct outcome *outcome, unsigned point, uint32_t test, json_t **array)
{
	const struct plan *plan = outcome->plan;

	for (uint32_t i = 0; i < plan->endpoints; i++) {
		const struct outcome_sum *sum = outcome_device(outcome, point, test, i);
		json_t *object;

		if (!takes_part(sum))
			continue;
		object = entry(outcome, point, test, plan->endpoint[i].host);
		put_device(&object, plan, i);
		put_sums(&object, is_latency(outcome, test), sum);
		tree_append(array, object);
	}
}

static void append_processes(const struct outcome *outcome, unsigned point, uint32_t test, json_t **array)
{
	const struct plan *plan = outcome->plan;

	for (uint32_t i = 0; i < plan->endpoints * outcome->processes; i++) {
		const uint32_t endpoint = i / outcome->processes, process = i % outcome->processes;
		const struct outcome_sum *sum = outcome_process(outcome, point, test, endpoint, process);
		json_t *object;

		if (!takes_part(sum))
			continue;
		object = entry(outcome, point, test, plan->endpoint[endpoint].host);
		put_device(&object, plan, endpoint);
		tree_put(&object, "process", json_integer(process));
		put_sums(&object, is_latency(outcome, test), sum);
		tree_append(array, object);
	}
}

static json_t *all_tests(const struct outcome *outcome, append_entries *append)
{
	json_t *array = json_array();

	for (unsigned point = 0; point < plan_points(outcome->plan); point++)
		for (uint32_t i = 0; i < outcome->plan->tests; i++)
			if (outcome_test(outcome, point, i)->connections)
				append(outcome, point, i, &array);
	return array;
}

json_t *part_per_node(const struct outcome *outcome)
{
	return all_tests(outcome, append_nodes);
}

json_t *part_per_device(const struct outcome *outcome)
{
	return all_tests(outcome, append_devices);
}

json_t *part_per_process(const struct outcome *outcome)
{
	return all_tests(outcome, append_processes);
}

static json_t *connection(const struct plan *plan, const struct connection *c)
{
	json_t *object = json_object();

	tree_put(&object, "requestorEndpoint", label(plan, c->from));
	tree_put(&object, "responderEndpoint", label(plan, c->to));
	return object;
}

static json_t *extreme(const struct plan *plan, const struct connection *c, const char *key, double figure)
{
	json_t *object = connection(plan, c);

	tree_put(&object, key, tree_real(figure));
	return object;
}

json_t *part_pairs(const struct outcome *outcome, unsigned point, uint32_t test)
{
	struct outcome_pairs pairs;
	json_t *object;

	if (outcome_pairs(outcome, point, test, &pairs) < 0)
		return NULL; /* no memory: then there is no document */
	if (!pairs.pairs)
		return json_null();
	object = json_object();
	tree_put(&object, "pairs", tree_count(pairs.pairs));
	tree_put(&object, "meanGbSec", tree_real(pairs.mean));
	tree_put(&object, "lowest", extreme(outcome->plan, &pairs.lowest, "bwGbSec", pairs.min));
	tree_put(&object, "highest", extreme(outcome->plan, &pairs.highest, "bwGbSec", pairs.max));
	return object;
}

json_t *part_extremes(const struct outcome *outcome, unsigned point, uint32_t test, bool best)
{
	const bool latency = is_latency(outcome, test);
	struct outcome_extreme row[OUTCOME_EXTREMES];
	const unsigned count = outcome_extremes(outcome, point, test, best != latency, row);
	json_t *array = json_array();

	for (unsigned i = 0; i < count; i++)
		tree_append(&array,
			    extreme(outcome->plan, &row[i].c, latency ? "medianUsec" : "bwGbSec", row[i].figure));
	return array;
}

json_t *part_failures(const struct outcome *outcome, unsigned point, uint32_t test)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < outcome->failures; i++) {
		const struct outcome_failure *failure = &outcome->failure[i];
		json_t *object;

		if (failure->point != point || failure->c.test != test)
			continue;
		object = connection(outcome->plan, &failure->c);
		tree_put(&object, "error", tree_text(failure->error.text));
		tree_append(&array, object);
	}
	return array;
}
