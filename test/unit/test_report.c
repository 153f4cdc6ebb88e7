/* Renders made-up results and compares them with test/golden/report (UPDATE=1 rewrites it); layout, hostile text, JSON. */
#include "golden.h"
#include "made_up.h"
#include "report/report.h"
#include "report/tree.h"
#include "spec/option.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct golden {
	const char *name;
	void (*make)(struct result *result);
} goldens[] = {
	{ "bw", make_bw },
	{ "udp", make_udp },
	{ "lat", make_lat },
	{ "overload", make_overload },
	{ "short_read", make_short_read },
	{ "never_connected", make_never_connected },
	{ "failed_midway", make_failed_midway },
	{ "interrupted", make_interrupted },
	{ "threshold", make_threshold },
	{ "doubtful", make_doubtful },
	{ "late_tcp", make_late_tcp },
	{ "many_workers", make_many_workers },
	{ "both", make_both },
	{ "validated", make_validated },
	{ "qps", make_qps },
	{ "operations", make_operations },
};

/* --- rendering --- */

static char *terminal(const struct result *result)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	report_terminal(to, result);
	assert_int_equal(fclose(to), 0);
	return text;
}

static json_t *parse_run(const struct results *results)
{
	char *text = report_json(results);
	json_t *root;

	assert_non_null(text);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	free(text);
	return root;
}

static json_t *parse(const struct result *result)
{
	const struct results results = results_of(result);

	return parse_run(&results);
}

static char *stable_json(const struct results *results)
{
	return golden_stable(parse_run(results));
}

/* A sweep as it is printed, row by row, and what follows; and its document. */
static void check_sweep(const char *name, struct results *results)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	results_conclude(results);
	for (unsigned i = 0; i < results->begun; i++)
		if (results->result[i].measured)
			report_row(to, results, i);
	report_table_end(to, results);
	assert_int_equal(fclose(to), 0);
	check_golden(name, "txt", text);
	free(text);
	text = stable_json(results);
	check_golden(name, "json", text);
	free(text);
}

static void test_sweeps(void **state)
{
	struct result bw[3], lat[2];
	struct results results;

	(void)state;
	make_bw(&bw[0]);
	make_doubtful(&bw[1]);
	make_failed_midway(&bw[2]);
	results = results_of(&bw[0]);
	results.result = bw;
	results.asked = 5;
	results.begun = 3;
	snprintf(results.request.size_list, sizeof(results.request.size_list), "1K:16K:*2");
	snprintf(results.request.qps_list, sizeof(results.request.qps_list), "1,2");
	check_sweep("sweep", &results);
	make_lat(&lat[0]);
	make_short_read(&lat[1]);
	results = results_of(&lat[0]);
	results.result = lat;
	results.asked = results.begun = 2;
	check_sweep("sweep_lat", &results);
	for (unsigned i = 0; i < 3; i++)
		result_release(&bw[i]);
	for (unsigned i = 0; i < 2; i++)
		result_release(&lat[i]);
}

static void test_goldens(void **state)
{
	struct results results;
	struct result result;
	char *text;

	(void)state;
	for (size_t i = 0; i < sizeof(goldens) / sizeof(goldens[0]); i++) {
		goldens[i].make(&result);
		text = terminal(&result);
		check_golden(goldens[i].name, "txt", text);
		free(text);
		results = results_of(&result);
		text = stable_json(&results);
		check_golden(goldens[i].name, "json", text);
		free(text);
		result_release(&result);
	}
}

/* --- the layout that scripts rely on --- */

static void test_value_ends_in_column_46(void **state)
{
	struct result result;
	char *text, *line, *rest = NULL;
	unsigned figures = 0;

	(void)state;
	make_udp(&result);
	text = terminal(&result);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!strstr(line, " [Gbit/sec]") && !strstr(line, " [Mpps]") && !strstr(line, " [messages]"))
			continue;
		assert_true(strlen(line) > 48);
		assert_true(line[45] >= '0' && line[45] <= '9');
		assert_int_equal(line[46], ' ');
		assert_int_equal(line[47], '[');
		figures++;
	}
	assert_int_equal(figures, 9);
	free(text);
	result_release(&result);
}

static void test_no_control_characters(void **state)
{
	struct result result;
	char *text;

	(void)state;
	make_bw(&result);
	snprintf(result.rank[1].host, sizeof(result.rank[1].host), "\033[2Jb\x01\xff\xc3\xa9");
	facts_add(&result.rank[1].facts, "device", "Dev\rice", "rxe\033]0;x\a");
	facts_add(&result.rank[1].facts, "bad key\n", "Bad", "x");
	text = terminal(&result);
	assert_null(strchr(text, '\033'));
	assert_null(strchr(text, '\r'));
	assert_non_null(strstr(text, "?[2Jb??\xc3\xa9"));
	free(text);
	json_decref(parse(&result));
	result_release(&result);
}

/* --- JSON --- */

static void test_scenario_has_every_option(void **state)
{
	struct result result;
	const json_t *scenario, *value;
	json_t *root;
	unsigned checked = 0;

	(void)state;
	make_lat(&result);
	result.request.spec.warmup_ns = 1500000000;
	root = parse(&result);
	scenario = json_object_get(root, "scenario");
	for (size_t i = 0; i < option_count; i++) {
		if (!option_rows[i].json)
			continue;
		checked++;
		assert_non_null(json_object_get(scenario, option_rows[i].json));
	}
	assert_int_equal(json_object_size(scenario), checked);
	value = json_object_get(scenario, "msgSize");
	assert_int_equal(json_integer_value(value), 8);
	assert_string_equal(json_string_value(json_object_get(scenario, "connectionType")), "RC");
	assert_string_equal(json_string_value(json_object_get(scenario, "mtu")), "auto");
	assert_true(fabs(json_real_value(json_object_get(scenario, "warmupTime")) - 1.5) < 1e-12);
	assert_true(json_is_array(json_object_get(scenario, "percentiles")));
	json_decref(root);
	result_release(&result);
}

static const json_t *at(const json_t *root, const char *key)
{
	const json_t *connection = json_array_get(json_object_get(root, "connections"), 0);

	return json_object_get(connection, key);
}

static void test_not_measured_is_null(void **state)
{
	struct result result;
	json_t *root;

	(void)state;
	make_never_connected(&result);
	root = parse(&result);
	assert_string_equal(json_string_value(json_object_get(root, "status")), "failed");
	assert_non_null(strstr(json_string_value(json_object_get(root, "error")), "nothing listens"));
	assert_true(json_is_null(json_object_get(at(root, "results"), "bwResults")));
	assert_true(json_is_null(at(root, "loss")));
	assert_true(json_is_null(json_object_get(at(root, "requestor"), "cpu")));
	assert_string_equal(json_string_value(json_object_get(at(root, "threshold"), "status")), "notMeasured");
	json_decref(root);
	result_release(&result);
}

/* The histogram of the document is the whole of it: its counts are the samples. */
static void test_histogram_adds_up(void **state)
{
	struct result result;
	const json_t *lat, *row;
	json_int_t sum = 0;
	json_t *root;
	size_t i;

	(void)state;
	make_lat(&result);
	root = parse(&result);
	lat = json_object_get(at(root, "results"), "latResults");
	json_array_foreach(json_object_get(lat, "histogram"), i, row)
	{
		assert_true(json_integer_value(json_array_get(row, 0)) <= json_integer_value(json_array_get(row, 1)));
		sum += json_integer_value(json_array_get(row, 2));
	}
	assert_int_equal(sum, 1000001);
	assert_int_equal(json_integer_value(json_object_get(lat, "samples")), sum);
	json_decref(root);
	result_release(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goldens),
		cmocka_unit_test(test_sweeps),
		cmocka_unit_test(test_value_ends_in_column_46),
		cmocka_unit_test(test_no_control_characters),
		cmocka_unit_test(test_scenario_has_every_option),
		cmocka_unit_test(test_not_measured_is_null),
		cmocka_unit_test(test_histogram_adds_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
