/* The result document of a scenario: every connection, what each test came to, and the ranks with their clocks. */
#include "report/bursts.h"
#include "report/impact.h"
#include "report/json_sums.h"
#include "report/many.h"
#include "report/parts.h"
#include "report/predict.h"
#include "report/tree.h"
#include "spec/words.h"

#include <math.h>

static void put_label(json_t *object, const char *key, const struct plan *plan, uint32_t endpoint)
{
	char label[PLAN_LABEL];

	json_object_set_new(object, key, tree_text(plan_label(plan, endpoint, label)));
}

static const char *test_name(const struct plan *plan, uint32_t test)
{
	return plan->test[test].name;
}

/* A phase of congestion impact, or a round of peer shifting, from 1; 0: neither. */
static uint32_t phase_id(const struct plan_test *test, uint32_t round, unsigned point)
{
	return test->role ? point + 1 : round;
}

/* What a connection is within its test: its phase or round, and whose file gave its size. */
static void put_place(json_t *object, const struct plan_test *test, const struct connection *c, unsigned point)
{
	json_t *config = json_object_get(json_object_get(object, "testConfig"), "generalConfig");

	if (phase_id(test, c->round, point))
		json_object_set_new(config, "trafficPhaseId", json_integer(phase_id(test, c->round, point)));
	if (!test->bytes)
		return;
	json_object_set_new(config, "ptiniFile", tree_text(test->sizes_file));
	json_object_set_new(config, "ptiniDatatype", json_string(ucc_type_names[test->datatype]));
}

static json_t *connection(const struct outcome *outcome, const struct connection *c, unsigned point,
			  const struct result *result, unsigned number)
{
	const bool back = result->direction == 2;
	json_t *object = part_connection(result, number);

	tree_put(&object, "testName", tree_text_or_null(test_name(outcome->plan, c->test)));
	if (object) {
		put_place(object, &outcome->plan->test[c->test], c, point);
		put_label(object, "requestorEndpoint", outcome->plan, back ? c->to : c->from);
		put_label(object, "responderEndpoint", outcome->plan, back ? c->from : c->to);
	}
	return object;
}

/* The same in short: who, how it ended, and its figures. */
static json_t *short_connection(const struct outcome *outcome, const struct connection *c, unsigned point,
				const struct result *result, unsigned number)
{
	const uint32_t phase = phase_id(&outcome->plan->test[c->test], c->round, point);
	const bool back = result->direction == 2;
	json_t *object = json_object();

	tree_put(&object, "connectionId", json_integer(number));
	tree_put(&object, "testName", tree_text_or_null(test_name(outcome->plan, c->test)));
	if (object) {
		put_label(object, "requestorEndpoint", outcome->plan, back ? c->to : c->from);
		put_label(object, "responderEndpoint", outcome->plan, back ? c->from : c->to);
	}
	tree_put(&object, "trafficPhaseId", phase ? json_integer(phase) : json_null());
	tree_put(&object, "msgSize", tree_count(spec_largest(&result->request.spec)));
	tree_put(&object, "numQps", tree_count(result->request.spec.qps));
	tree_put(&object, "txDepth", tree_count(result->request.spec.tx_depth));
	tree_put(&object, "burstSize", part_burst_size(&result->request.spec));
	tree_put(&object, "status", part_status(result->status));
	tree_put(&object, "error", part_error(result->status, &result->error));
	tree_put(&object, "bwResults", part_bw(result, result_authority(result)));
	tree_put(&object, "latResults", part_lat_summary(result));
	tree_put(&object, "validationResults", part_validity(result));
	tree_put(&object, "loss", part_loss(result));
	tree_put(&object, "threshold", part_threshold(result));
	return object;
}

struct lists {
	json_t *connections, *pairs;
};

static void append(const struct outcome *outcome, const struct connection *c, unsigned point, struct result *result,
		   struct lists *lists)
{
	const unsigned first = (unsigned)json_array_size(lists->connections);
	const bool whole = outcome->request.results_detail == DETAIL_PROCESSES;

	for (unsigned i = 0; i < result_directions(result); i++) {
		struct direction way;

		result_direction(result, i, &way);
		tree_append(&lists->connections, whole ? connection(outcome, c, point, &way.result, first + i)
						       : short_connection(outcome, c, point, &way.result, first + i));
	}
	part_append_pair(&lists->pairs, result, first);
}

static void list_all(const struct outcome *outcome, unsigned point, struct result *result, struct lists *lists)
{
	struct plan_cursor cursor;
	struct connection c;
	struct error err = { 0 };

	plan_begin(&cursor, outcome->plan, PLAN_ALL_HOSTS);
	while (plan_next(&cursor, &c)) {
		if (!plan_runs(outcome->plan, c.test, point))
			continue;
		if (outcome_result(outcome, &c, point, result, &err) == 0) {
			outcome_judge_result(result);
			append(outcome, &c, point, result, lists);
		}
		result_release(result);
	}
}

static json_t *figures(const struct plan_test *planned, const struct outcome_test *t, bool latency)
{
	json_t *object = json_object();

	if (!latency)
		tree_put(&object, "sumGbSec",
			 planned->iteration_sync && planned->bytes ? json_null() : tree_real(t->sum));
	tree_put(&object, latency ? "meanMedianUsec" : "meanGbSec", tree_real(t->mean));
	tree_put(&object, latency ? "minMedianUsec" : "minGbSec", tree_real(t->min));
	tree_put(&object, latency ? "maxMedianUsec" : "maxGbSec", tree_real(t->max));
	if (t->steppers) {
		tree_put(&object, "meanIterationUsec", tree_real(t->step_mean * 1e6));
		tree_put(&object, "maxIterationUsec", tree_real(t->step_max * 1e6));
	}
	return object;
}

static json_t *test(const struct outcome *outcome, unsigned point, uint32_t i)
{
	const struct plan_test *planned = &outcome->plan->test[i];
	const struct spec *spec = &planned->sweep.spec[point];
	const struct outcome_test *t = outcome_test(outcome, point, i);
	const bool latency = spec->metric == METRIC_LAT, ran = t->connections > 0;
	json_t *object = json_object();

	tree_put(&object, "testName", tree_text_or_null(planned->name));
	if (planned->role) {
		tree_put(&object, "role", json_string(role_name(planned->role)));
		tree_put(&object, "trafficPhaseId", json_integer(phase_id(planned, 0, point)));
	}
	tree_put(&object, "trafficPattern", json_string(pattern_name(planned->pattern)));
	tree_put(&object, "trafficDirection", json_string(direction_name(planned->direction)));
	tree_put(&object, "trafficPartition", json_string(partition_name(planned->partition)));
	tree_put(&object, "connections", tree_count(planned->connections));
	tree_put(&object, "rounds", json_integer(planned->rounds));
	tree_put(&object, "msgSize", tree_count(spec->size));
	tree_put(&object, "numQps", tree_count(spec->qps));
	tree_put(&object, "txDepth", tree_count(spec->tx_depth));
	tree_put(&object, "failedConnections", ran ? tree_count(t->failed) : json_null());
	tree_put(&object, "thresholdMissed", ran ? tree_count(t->missed) : json_null());
	tree_put(&object, "figures", ran ? figures(planned, t, latency) : json_null());
	tree_put(&object, "sent", t->counted ? tree_count(t->sent) : json_null());
	tree_put(&object, "received", t->counted ? tree_count(t->received) : json_null());
	tree_put(&object, "bursts", part_bursts(&planned->sweep.spec[point], t->has_bursts ? &t->bursts : NULL));
	tree_put(&object, "lost", t->counted ? tree_count(t->lost) : json_null());
	tree_put(&object, "pairs", ran ? part_pairs(outcome, point, i) : json_null());
	tree_put(&object, "best", ran ? part_extremes(outcome, point, i, true) : json_null());
	tree_put(&object, "worst", ran ? part_extremes(outcome, point, i, false) : json_null());
	tree_put(&object, "failures", part_failures(outcome, point, i));
	return object;
}

static json_t *closure(const struct closure *closure)
{
	json_t *object = json_object();

	if (!closure->pairs) {
		json_decref(object);
		return json_null();
	}
	tree_put(&object, "pairs", tree_count(closure->pairs));
	tree_put(&object, "medianUsec", tree_real((double)closure->median_ns / 1e3));
	tree_put(&object, "p95Usec", tree_real((double)closure->p95_ns / 1e3));
	tree_put(&object, "maxUsec", tree_real((double)closure->max_ns / 1e3));
	tree_put(&object, "outsideBounds", tree_count(closure->outside));
	return object;
}

static json_t *skew(const struct outcome *outcome)
{
	json_t *object = json_object();
	struct outcome_skew skew;

	if (!outcome_skew(outcome, &skew)) {
		json_decref(object);
		return json_null();
	}
	tree_put(&object, "beginSkewUsec", tree_real(skew.begin * 1e6));
	tree_put(&object, "endSkewUsec", tree_real(skew.end * 1e6));
	tree_put(&object, "clockErrorUsec", tree_real(skew.clock_error * 1e6));
	tree_put(&object, "clockU95Usec", tree_real(skew.clock_u95 * 1e6));
	tree_put(&object, "clockClosure", closure(&outcome->closure));
	return object;
}

/* Null when no rank came to its first step. */
static json_t *phases(const struct outcome *outcome)
{
	static const char *const names[OUTCOME_PHASES] = { "startSec",  "attendSec",  "openSec",   "joinSec",
							   "clocksSec", "trafficSec", "resultsSec" };
	json_t *object;

	if (outcome->phase[PHASE_START] <= 0)
		return json_null();
	object = json_object();
	for (unsigned i = 0; i < OUTCOME_PHASES; i++)
		tree_put(&object, names[i], tree_real(outcome->phase[i]));
	return object;
}

static json_t *aggregated(const struct outcome *outcome, json_t *pairs)
{
	json_t *object = json_object(), *tests = json_array();

	for (unsigned point = 0; point < plan_points(outcome->plan); point++)
		for (uint32_t i = 0; i < outcome->plan->tests; i++)
			tree_append(&tests, test(outcome, point, i));
	tree_put(&object, "bwResults", json_null());
	tree_put(&object, "bidirConnections", pairs);
	tree_put(&object, "latResults", json_null());
	tree_put(&object, "threshold", json_null());
	tree_put(&object, "perTest", tests);
	tree_put(&object, "perNode", part_per_node(outcome));
	tree_put(&object, "perDevice", part_per_device(outcome));
	if (outcome->request.results_detail == DETAIL_PROCESSES)
		tree_put(&object, "perProcess", part_per_process(outcome));
	tree_put(&object, "commonWindow", skew(outcome));
	tree_put(&object, "phases", phases(outcome));
	return object;
}

/* How wrong the drift may be: both offsets may be. */
static double drift_error(const struct part_clock *clock)
{
	const double between = (double)(clock->at_ns[1] - clock->at_ns[0]);

	return between > 0 ? (double)(clock->error_ns[0] + clock->error_ns[1]) / between * 1e6 : (double)NAN;
}

/* Parts of a million by which a rank's clock runs faster than rank 0's, from before to after the traffic. */
static double drift(const struct part_clock *clock)
{
	const double between = (double)(clock->at_ns[1] - clock->at_ns[0]);

	return between > 0 ? (double)(clock->offset_ns[1] - clock->offset_ns[0]) / between * 1e6 : (double)NAN;
}

static void put_clock(json_t **object, const struct part_clock *clock, bool measured, bool other)
{
	tree_put(object, "clockShared", measured ? json_boolean(clock->shared) : json_null());
	tree_put(object, "clockOffsetNsec", measured ? json_integer(clock->offset_ns[0]) : json_null());
	tree_put(object, "clockErrorNsec", measured ? json_integer(clock->error_ns[0]) : json_null());
	tree_put(object, "clockU95Nsec", measured ? json_integer(clock->u95_ns[0]) : json_null());
	tree_put(object, "clockOffsetAfterNsec", measured ? json_integer(clock->offset_ns[1]) : json_null());
	tree_put(object, "clockErrorAfterNsec", measured ? json_integer(clock->error_ns[1]) : json_null());
	tree_put(object, "clockU95AfterNsec", measured ? json_integer(clock->u95_ns[1]) : json_null());
	tree_put(object, "clockDriftPpm", measured && other ? tree_real(drift(clock)) : json_null());
	tree_put(object, "clockDriftErrorPpm", measured && other ? tree_real(drift_error(clock)) : json_null());
}

/* Of several rounds or points, behind the traffic of each: what its windows' instants were brought to rank 0's clock by. */
static json_t *stage_clocks(const struct outcome *outcome, uint32_t i)
{
	json_t *array = json_array();

	for (uint64_t k = 0; k < outcome->done; k++) {
		const struct part_clock *clock = &outcome->stage[k].clock[i];
		json_t *object = json_object();

		tree_put(&object, "offsetNsec", json_integer(clock->offset_ns[1]));
		tree_put(&object, "errorNsec", json_integer(clock->error_ns[1]));
		tree_put(&object, "u95Nsec", json_integer(clock->u95_ns[1]));
		tree_append(&array, object);
	}
	return array;
}

static json_t *rank(const struct outcome *outcome, uint32_t i)
{
	const struct part_head *head = &outcome->head[i];
	const bool measured = outcome->measured;
	json_t *object = json_object();

	tree_put(&object, "hostName", tree_text(outcome->plan->host[i].name));
	tree_put(&object, "machineName", tree_text_or_null(head->host));
	tree_put(&object, "version", tree_text_or_null(head->version));
	tree_put(&object, "residentBytes", head->rss_bytes ? tree_count(head->rss_bytes) : json_null());
	tree_put(&object, "coresShared", measured ? json_boolean(head->cores_shared) : json_null());
	put_clock(&object, &outcome->clock[i], measured, i > 0);
	if (outcome->done > 1 && outcome->request.results_detail == DETAIL_PROCESSES)
		tree_put(&object, "stageClocks", stage_clocks(outcome, i));
	tree_put(&object, "counters", part_counters(&outcome->counters[i]));
	return object;
}

static json_t *ranks(const struct outcome *outcome)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < outcome->plan->hosts; i++)
		tree_append(&array, rank(outcome, i));
	return array;
}

json_t *report_many_tree(const struct outcome *outcome, struct result *scratch)
{
	const bool listed = outcome->request.results_detail != DETAIL_SUMMARY;
	struct lists lists = { .connections = listed ? json_array() : json_null(),
			       .pairs = listed ? json_array() : json_null() };
	json_t *root = json_object();
	struct plan_prediction prediction;

	for (unsigned point = 0; listed && point < plan_points(outcome->plan); point++)
		list_all(outcome, point, scratch, &lists);
	tree_put(&root, "versionInfo", part_version_info());
	tree_put(&root, "status", part_status(outcome->status));
	tree_put(&root, "error", part_error(outcome->status, &outcome->error));
	tree_put(&root, "startedAt", part_started(outcome->started_unix_ns));
	tree_put(&root, "scenario", part_scenario(&outcome->request));
	tree_put(&root, "ranks", ranks(outcome));
	tree_put(&root, "connections", lists.connections);
	tree_put(&root, "aggregatedResults", aggregated(outcome, lists.pairs));
	if (plan_has_roles(outcome->plan))
		tree_put(&root, "congestionImpact", part_impact(outcome));
	if (plan_predict(outcome->plan, false, &prediction, NULL) == 0 && prediction.switch_named)
		tree_put(&root, "prediction", report_predict_json(&prediction));
	return root;
}

char *report_many_json(const struct outcome *outcome, struct result *scratch)
{
	json_t *root = report_many_tree(outcome, scratch);
	char *text = root ? tree_print(root) : NULL;

	json_decref(root);
	return text;
}
