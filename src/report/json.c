/* The result document: version, status, scenario, the connection with its figures and conditions, the aggregate. */
#include "report/report.h"

#include "report/bursts.h"
#include "report/parts.h"
#include "report/tree.h"
#include "spec/option.h"

#include <stdlib.h>
#include <time.h>

#define SCHEMA_ID "urn:fabperf:result:1.1.0" /* docs/result.schema.json */

static const char *const statuses[] = {
	[RUN_OK] = "ok",
	[RUN_FAILED] = "failed",
	[RUN_THRESHOLD] = "threshold",
	[RUN_INTERRUPTED] = "interrupted",
};

json_t *part_status(enum run_status status)
{
	return json_string(statuses[status]);
}

json_t *part_version_info(void)
{
	json_t *object = json_object();

	tree_put(&object, "jsonOutputSchema", json_string(SCHEMA_ID));
	tree_put(&object, "version", json_string(FABPERF_VERSION));
	tree_put(&object, "tool", json_string("fabperf"));
	return object;
}

json_t *part_error(enum run_status status, const struct error *error)
{
	const bool failed = status == RUN_FAILED || status == RUN_INTERRUPTED;

	return failed ? tree_text_or_null(error->text) : json_null();
}

/* 2026-01-31T12:00:00.123Z */
json_t *part_started(int64_t unix_ns)
{
	const time_t seconds = (time_t)(unix_ns / 1000000000);
	const int ms = (int)(unix_ns / 1000000 % 1000);
	char text[64];
	struct tm tm;

	if (unix_ns <= 0 || !gmtime_r(&seconds, &tm))
		return json_null();
	snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900, tm.tm_mon + 1,
		 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, ms);
	return json_string(text);
}

/* The scenario's values under the given keys; null where there is no such option. */
static json_t *pick(const struct request *request, const char *const *keys)
{
	json_t *all = part_scenario(request), *object = json_object();

	for (; *keys; keys++) {
		json_t *value = json_object_get(all, *keys);

		tree_put(&object, *keys, value ? json_incref(value) : json_null());
	}
	json_decref(all);
	return object;
}

json_t *part_test_config(const struct result *result)
{
	static const char *const general[] = { "metric",           "duration",  "iterations",       "warmupTime",
					       "warmupIterations", "endMargin", "trafficDirection", NULL };
	static const char *const resources[] = { "connectionType", "rdmaDriver", "numProcesses",
						 "numQps",         "txDepth",    "rxDepth",
						 "postBatch",      "cqMod",      "memoryType",
						 "events",         NULL };
	json_t *config = json_object(), *resource = pick(&result->request, resources), *operations = json_array();
	struct spec_op op[SPEC_OPS];
	const unsigned ops = spec_ops(&result->request.spec, op);

	for (unsigned i = 0; i < ops; i++)
		tree_append(&operations, part_operation(&op[i]));
	tree_put(&resource, "operations", operations);
	tree_put(&config, "generalConfig", pick(&result->request, general));
	tree_put(&config, "resourceConfig", resource);
	return config;
}

static json_t *results(const struct result *result)
{
	json_t *object = json_object();

	tree_put(&object, "bwResults", part_bw(result, result_authority(result)));
	tree_put(&object, "latResults", part_lat(result));
	tree_put(&object, "validationResults", part_validity(result));
	tree_put(&object, "operations", part_operations(result));
	return object;
}

static json_t *bursts(const struct result *result)
{
	struct burst_summary summary;

	return part_bursts(&result->request.spec, result_bursts(result, &summary) ? &summary : NULL);
}

/* Whose counts make the figure. */
static json_t *counted_by(const struct result *result)
{
	const struct rank_result *rank = result_authority(result);

	if (!result->measured || !rank)
		return json_null();
	return json_string(rank->active ? "requestor" : "responder");
}

json_t *part_connection(const struct result *result, unsigned number)
{
	json_t *object = json_object();

	tree_put(&object, "connectionId", json_integer(number));
	tree_put(&object, "status", part_status(result->status));
	tree_put(&object, "error", part_error(result->status, &result->error));
	tree_put(&object, "requestor", part_side(result, result_sender(result), false));
	tree_put(&object, "responder", part_side(result, result_sender(result) ? result_receiver(result) : NULL, true));
	tree_put(&object, "testConfig", part_test_config(result));
	tree_put(&object, "results", results(result));
	tree_put(&object, "countedBy", counted_by(result));
	tree_put(&object, "load", part_load(result));
	tree_put(&object, "bursts", bursts(result));
	tree_put(&object, "loss", part_loss(result));
	tree_put(&object, "threshold", part_threshold(result));
	tree_put(&object, "remarks", part_remarks(result));
	tree_put(&object, "setupSec", result->measured ? tree_real(result->setup_seconds) : json_null());
	tree_put(&object, "drainSec", result->measured ? tree_real(result->drain_seconds) : json_null());
	tree_put(&object, "resultsPerProcess", part_processes(result));
	return object;
}

/* An entry per pair of hosts: both of its directions, and their sum. */
void part_append_pair(json_t **array, const struct result *result, unsigned first)
{
	json_t *pair, *ids;

	if (result_directions(result) == 1)
		return;
	pair = json_object();
	ids = json_array();
	tree_append(&ids, json_integer(first));
	tree_append(&ids, json_integer(first + 1));
	tree_put(&pair, "connectionIds", ids);
	tree_put(&pair, "clientHostName", tree_text_or_null(result->rank[0].host));
	tree_put(&pair, "serverHostName", tree_text_or_null(result->rank[1].host));
	tree_put(&pair, "bwResults", part_bw_total(result));
	tree_append(array, pair);
}

static json_t *pairs(const struct results *results)
{
	json_t *array = json_array();
	unsigned id = 0;

	for (unsigned i = 0; i < results->begun; i++) {
		part_append_pair(&array, &results->result[i], id);
		id += result_directions(&results->result[i]);
	}
	return array;
}

/* A test of a sweep: what makes it one, and what it came to; first is its first connection. */
static json_t *test(const struct result *result, unsigned first)
{
	json_t *object = json_object(), *ids = json_array();

	for (unsigned i = 0; i < result_directions(result); i++)
		tree_append(&ids, json_integer(first + i));
	tree_put(&object, "connectionIds", ids);
	tree_put(&object, "msgSize", tree_count(result->request.spec.size));
	tree_put(&object, "numQps", tree_count(result->request.spec.qps));
	tree_put(&object, "txDepth", tree_count(result->request.spec.tx_depth));
	tree_put(&object, "status", part_status(result->status));
	tree_put(&object, "bwResults", part_bw_total(result));
	tree_put(&object, "latResults", part_lat_summary(result));
	tree_put(&object, "threshold", part_threshold(result));
	return object;
}

static json_t *tests(const struct results *results)
{
	json_t *array = json_array();
	unsigned id = 0;

	for (unsigned i = 0; i < results->begun; i++) {
		tree_append(&array, test(&results->result[i], id));
		id += result_directions(&results->result[i]);
	}
	return array;
}

/* Passed only when all tests passed: one that missed it, else one that was not measured, stands for all. */
static json_t *worst_threshold(const struct results *results)
{
	const struct result *worst = &results->result[0];

	for (unsigned i = 1; i < results->begun; i++) {
		const struct result *next = &results->result[i];

		if (worst->status != RUN_THRESHOLD &&
		    (next->status == RUN_THRESHOLD || (!next->measured && worst->measured)))
			worst = next;
	}
	return part_threshold(worst);
}

/* Different tests have no sum. */
static json_t *aggregated(const struct results *results)
{
	const bool sweep = results->asked > 1;
	json_t *object = json_object();

	tree_put(&object, "bwResults", sweep ? json_null() : part_bw_total(results->result));
	tree_put(&object, "bidirConnections", pairs(results));
	tree_put(&object, "latResults", sweep ? json_null() : part_lat_summary(results->result));
	tree_put(&object, "threshold", worst_threshold(results));
	if (!sweep)
		return object;
	tree_put(&object, "testsAsked", json_integer(results->asked));
	tree_put(&object, "setups", json_integer(results->setups));
	tree_put(&object, "perTest", tests(results));
	return object;
}

static void append_connections(json_t **array, const struct result *result)
{
	for (unsigned i = 0; i < result_directions(result); i++) {
		struct direction way;

		result_direction(result, i, &way);
		tree_append(array, part_connection(&way.result, (unsigned)json_array_size(*array)));
	}
}

static json_t *document(const struct results *results)
{
	json_t *object = json_object(), *connections = json_array();

	for (unsigned i = 0; i < results->begun; i++)
		append_connections(&connections, &results->result[i]);
	tree_put(&object, "versionInfo", part_version_info());
	tree_put(&object, "status", part_status(results->status));
	tree_put(&object, "error", part_error(results->status, &results->error));
	tree_put(&object, "startedAt", part_started(results->started_unix_ns));
	tree_put(&object, "scenario", part_scenario(&results->request));
	tree_put(&object, "connections", connections);
	tree_put(&object, "aggregatedResults", aggregated(results));
	return object;
}

char *report_json(const struct results *results)
{
	json_t *root = document(results);
	char *text = root ? tree_print(root) : NULL;

	json_decref(root);
	return text;
}
