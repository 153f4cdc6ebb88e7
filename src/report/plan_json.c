/* A plan as JSON: tests, totals and hosts as a tree, the connections as a stream of lines. */
#include "report/plan.h"

#include "base/error.h"
#include "report/parts.h"
#include "report/tree.h"
#include "spec/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA_ID "urn:fabperf:plan:1.0.0" /* docs/plan.schema.json */

static json_t *version_info(void)
{
	json_t *object = json_object();

	tree_put(&object, "jsonOutputSchema", json_string(SCHEMA_ID));
	tree_put(&object, "version", json_string(FABPERF_VERSION));
	tree_put(&object, "tool", json_string("fabperf"));
	return object;
}

/* What one point of a test's lists has that the others have not. */
static json_t *points(const struct plan_test *test)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < (test->role ? 1 : test->sweep.count); i++) { /* phases are all alike */
		const struct spec *const spec = &test->sweep.spec[i];
		json_t *point = json_object();

		tree_put(&point, "msgSize", tree_count(spec->size));
		tree_put(&point, "numQps", tree_count(spec->qps));
		tree_put(&point, "txDepth", tree_count(spec->tx_depth));
		if (spec->burst_size)
			tree_put(&point, "burstSize", tree_count(spec->burst_size));
		tree_append(&array, point);
	}
	return array;
}

static json_t *test_part(const struct plan_test *test)
{
	json_t *object = json_object();

	tree_put(&object, "testName", tree_text_or_null(test->name));
	tree_put(&object, "role", test->role ? json_string(role_name(test->role)) : json_null());
	tree_put(&object, "trafficPattern", json_string(pattern_name(test->pattern)));
	tree_put(&object, "trafficDirection", json_string(direction_name(test->direction)));
	tree_put(&object, "trafficPartition",
		 test->partition ? json_string(partition_name(test->partition)) : json_null());
	tree_put(&object, "iterationSync", json_boolean(test->iteration_sync));
	tree_put(&object, "peerShifting", json_boolean(test->peer_shifting));
	tree_put(&object, "endpoints", json_integer(test->positions));
	tree_put(&object, "connections", tree_count(test->connections));
	tree_put(&object, "rounds", json_integer(test->rounds));
	tree_put(&object, "ptiniDatatype", test->bytes ? json_string(ucc_type_names[test->datatype]) : json_null());
	tree_put(&object, "skippedPairs", json_integer(test->skipped));
	tree_put(&object, "points", points(test));
	tree_put(&object, "options", part_spec(&test->sweep.spec[0]));
	return object;
}

static json_t *tests_part(const struct plan *plan)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < plan->tests; i++)
		tree_append(&array, test_part(&plan->test[i]));
	return array;
}

static json_t *hosts_part(const struct plan *plan, const struct plan_totals *totals)
{
	json_t *array = json_array();

	for (uint32_t h = 0; h < plan->hosts; h++) {
		json_t *object = json_object();

		tree_put(&object, "rank", json_integer(h));
		tree_put(&object, "hostName", tree_text(plan->host[h].name));
		tree_put(&object, "endpoints", json_integer(plan->host[h].endpoints));
		tree_put(&object, "connections", tree_count(totals->host[h].connections));
		tree_put(&object, "qps", tree_count(totals->host[h].qps));
		tree_put(&object, "memoryBytes", tree_count(totals->host[h].memory));
		tree_append(&array, object);
	}
	return array;
}

static json_t *totals_part(const struct plan *plan, const struct plan_totals *totals)
{
	json_t *object = json_object();

	tree_put(&object, "tests", json_integer(plan->tests));
	tree_put(&object, "hosts", json_integer(plan->hosts));
	tree_put(&object, "endpoints", json_integer(plan->endpoints));
	tree_put(&object, "connections", tree_count(plan->connections));
	tree_put(&object, "directedConnections", tree_count(totals->flows));
	tree_put(&object, "qps", tree_count(totals->qps));
	tree_put(&object, "qpsPerHost", tree_count(totals->most_qps));
	tree_put(&object, "memoryPerHostBytes", tree_count(totals->memory));
	tree_put(&object, "rounds", json_integer(plan->rounds));
	tree_put(&object, "phases", json_integer(plan_has_roles(plan) ? IMPACT_PHASES : 1));
	tree_put(&object, "expectedSec", totals->seconds < 0 ? json_null() : tree_real(totals->seconds));
	return object;
}

/* {"hostName": ..., "deviceName": ..., "cudaDeviceId": ...} of each endpoint, written once. */
static char *endpoint_text(const struct plan *plan, uint32_t index)
{
	const struct endpoint *const end = &plan->endpoint[index];
	json_t *object = json_object();
	char *text;

	tree_put(&object, "hostName", tree_text(plan->host[end->host].name));
	tree_put(&object, "deviceName", tree_text_or_null(plan->device[end->device]));
	tree_put(&object, "cudaDeviceId", end->gpu == PLAN_NO_GPU ? json_null() : json_integer(end->gpu));
	text = object ? json_dumps(object, 0) : NULL;
	json_decref(object);
	return text;
}

static void free_all(char **text, uint32_t count)
{
	for (uint32_t i = 0; text && i < count; i++)
		free(text[i]);
	free(text);
}

static char **endpoint_texts(const struct plan *plan)
{
	char **text = calloc(plan->endpoints, sizeof(*text));

	for (uint32_t i = 0; text && i < plan->endpoints; i++) {
		text[i] = endpoint_text(plan, i);
		if (!text[i]) {
			free_all(text, plan->endpoints);
			return NULL;
		}
	}
	return text;
}

static int write_connections(FILE *to, const struct plan *plan, struct error *err)
{
	char **text = endpoint_texts(plan);
	struct plan_cursor cursor;
	struct connection one;
	uint64_t id = 0;

	if (!text)
		return error_set(err, -ENOMEM, "no memory for the plan's document");
	fputs(",\n  \"connections\": [", to);
	plan_begin(&cursor, plan, PLAN_ALL_HOSTS);
	while (plan_next(&cursor, &one)) {
		fprintf(to,
			"%s\n    {\"connectionId\": %" PRIu64 ", \"test\": %u, \"requestor\": %s, \"responder\": %s, "
			"\"bidirectional\": %s, ",
			id ? "," : "", id, one.test, text[one.from], text[one.to], one.both ? "true" : "false");
		if (one.bytes)
			fprintf(to, "\"msgSize\": %" PRIu64 ", ", one.bytes);
		if (one.round)
			fprintf(to, "\"trafficPhaseId\": %u}", one.round);
		else
			fputs("\"trafficPhaseId\": null}", to);
		id++;
	}
	fputs("\n  ]\n}\n", to);
	free_all(text, plan->endpoints);
	return 0;
}

int report_plan_json(FILE *to, const struct report_plan *report, struct error *err)
{
	const struct plan *const plan = report->plan;
	const bool summary = report->summary;
	json_t *object = json_object();
	char *text;
	size_t len;

	tree_put(&object, "versionInfo", version_info());
	tree_put(&object, "tests", tests_part(plan));
	tree_put(&object, "hosts", hosts_part(plan, report->totals));
	tree_put(&object, "totals", totals_part(plan, report->totals));
	if (report->prediction->there)
		tree_put(&object, "prediction", report_predict_json(report->prediction));
	if (summary)
		tree_put(&object, "connections", tree_count(plan->connections));
	text = object ? tree_print(object) : NULL;
	json_decref(object);
	if (!text)
		return error_set(err, -ENOMEM, "no memory for the plan's document");
	len = strlen(text);
	while (len && (text[len - 1] == '\n' || (!summary && text[len - 1] == '}' && text[len - 2] == '\n')))
		len--; /* the connections come before the closing brace */
	fwrite(text, 1, len, to);
	free(text);
	if (!summary)
		return write_connections(to, plan, err);
	fputc('\n', to);
	return 0;
}
