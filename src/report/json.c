/* The result document: version, status, scenario, the connection with its figures and conditions, the aggregate. */
#include "report/report.h"

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

static json_t *version_info(void)
{
	json_t *object = json_object();

	tree_put(&object, "jsonOutputSchema", json_string(SCHEMA_ID));
	tree_put(&object, "version", json_string(FABPERF_VERSION));
	tree_put(&object, "tool", json_string("fabperf"));
	return object;
}

static json_t *error_value(const struct result *result)
{
	const bool failed = result->status == RUN_FAILED || result->status == RUN_INTERRUPTED;

	return failed ? tree_text_or_null(result->error.text) : json_null();
}

/* 2026-01-31T12:00:00.123Z */
static json_t *started(const struct result *result)
{
	const time_t seconds = (time_t)(result->started_unix_ns / 1000000000);
	const int ms = (int)(result->started_unix_ns / 1000000 % 1000);
	char text[64];
	struct tm tm;

	if (result->started_unix_ns <= 0 || !gmtime_r(&seconds, &tm))
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
	json_t *config = json_object(), *resource = pick(&result->request, resources), *operation = json_object();
	json_t *operations = json_array();

	tree_put(&operation, "verb", json_string(verb_name(result->request.spec.verb)));
	tree_put(&operation, "msgSize",
		 result->request.spec.size == SPEC_AUTO ? json_null() : tree_count(result->request.spec.size));
	tree_append(&operations, operation);
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
	return object;
}

/* Whose counts make the figure. */
static json_t *counted_by(const struct result *result)
{
	const struct rank_result *rank = result_authority(result);

	if (!result->measured || !rank)
		return json_null();
	return json_string(rank->active ? "requestor" : "responder");
}

static json_t *connection(const struct result *result, unsigned number)
{
	json_t *object = json_object();

	tree_put(&object, "connectionId", json_integer(number));
	tree_put(&object, "status", json_string(statuses[result->status]));
	tree_put(&object, "error", error_value(result));
	tree_put(&object, "requestor", part_side(result, result_sender(result), false));
	tree_put(&object, "responder", part_side(result, result_sender(result) ? result_receiver(result) : NULL, true));
	tree_put(&object, "testConfig", part_test_config(result));
	tree_put(&object, "results", results(result));
	tree_put(&object, "countedBy", counted_by(result));
	tree_put(&object, "loss", part_loss(result));
	tree_put(&object, "threshold", part_threshold(result));
	tree_put(&object, "remarks", part_remarks(result));
	tree_put(&object, "setupSec", result->measured ? tree_real(result->setup_seconds) : json_null());
	tree_put(&object, "drainSec", result->measured ? tree_real(result->drain_seconds) : json_null());
	tree_put(&object, "resultsPerProcess", part_processes(result));
	return object;
}

/* An entry per pair of hosts: both of its directions, and their sum. */
static json_t *both_directions(const struct result *result)
{
	json_t *array = json_array(), *pair, *ids;

	if (result_directions(result) == 1)
		return array;
	pair = json_object();
	ids = json_array();
	tree_append(&ids, json_integer(0));
	tree_append(&ids, json_integer(1));
	tree_put(&pair, "connectionIds", ids);
	tree_put(&pair, "clientHostName", tree_text_or_null(result->rank[0].host));
	tree_put(&pair, "serverHostName", tree_text_or_null(result->rank[1].host));
	tree_put(&pair, "bwResults", part_bw_total(result));
	tree_append(&array, pair);
	return array;
}

static json_t *aggregated(const struct result *result)
{
	json_t *object = json_object();

	tree_put(&object, "bwResults", part_bw_total(result));
	tree_put(&object, "bidirConnections", both_directions(result));
	tree_put(&object, "latResults", part_lat_summary(result));
	tree_put(&object, "threshold", part_threshold(result));
	return object;
}

static json_t *document(const struct result *result)
{
	json_t *object = json_object(), *connections = json_array();

	for (unsigned i = 0; i < result_directions(result); i++) {
		struct direction way;

		result_direction(result, i, &way);
		tree_append(&connections, connection(&way.result, i));
	}
	tree_put(&object, "versionInfo", version_info());
	tree_put(&object, "status", json_string(statuses[result->status]));
	tree_put(&object, "error", error_value(result));
	tree_put(&object, "startedAt", started(result));
	tree_put(&object, "scenario", part_scenario(&result->request));
	tree_put(&object, "connections", connections);
	tree_put(&object, "aggregatedResults", aggregated(result));
	return object;
}

char *report_json(const struct result *result)
{
	json_t *root = document(result);
	char *text = root ? tree_print(root) : NULL;

	json_decref(root);
	return text;
}
