/* Makes the tests of a scenario of a request, and checks that they can run together. */
#include "plan/scenario.h"

#include "base/error.h"
#include "plan/load.h"
#include "plan/read.h"
#include "plan/roles.h"
#include "spec/legal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define END_MARGIN 2000000000 /* ns: ranks do not end at one instant */

void scenario_release(struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->tests; i++) {
		struct scenario_test *const test = &scenario->test[i];

		for (uint32_t k = 0; k < test->nodes; k++) {
			free(test->node[k].hosts);
			free(test->node[k].devices);
			free(test->node[k].gpus);
		}
		free(test->node);
		free(test->where);
		ptini_release(&test->ptini);
		sweep_release(&test->sweep);
	}
	free(scenario->test);
	*scenario = (struct scenario){ 0 };
}

static bool is_set(const struct request *request, int row)
{
	return option_given(request, row) || option_inherited(request, row);
}

/* Defaults that differ from those of a test between two hosts. */
static void set_defaults(struct request *request)
{
	struct spec *const spec = &request->spec;
	const bool margin =
		spec->metric == METRIC_BW && !spec_quota(spec) && !spec->validate && spec->engine == ENGINE_CPU;

	if (margin && !is_set(request, ROW(spec.end_margin_ns)))
		spec->end_margin_ns = END_MARGIN;
	if (request->iteration_sync && !is_set(request, ROW(spec.warmup_ns)))
		spec->warmup_ns = 0;
	memset(spec->device, 0, sizeof(spec->device)); /* each endpoint has its own */
}

static int copy(char **ret, const char *text, struct error *err)
{
	*ret = strdup(text);
	return *ret ? 0 : error_set(err, -ENOMEM, "no memory for a scenario");
}

int scenario_complete(struct scenario_test *test, const struct request *request, const struct request_host *host,
		      struct error *err)
{
	struct request one = *request;
	int rc;

	test->pattern = request_pattern(request);
	test->direction = request_direction(request);
	test->partition = request_partition(request);
	test->peer_shifting = request->peer_shifting;
	test->iteration_sync = request->iteration_sync;
	test->no_matrix = request->no_matrix;
	set_defaults(&one);
	rc = sweep_resolve(&test->sweep, &one, host, err);
	if (rc || !*request->ptini_file)
		return rc;
	test->ptini.datatype = request->ptini_datatype;
	rc = copy(&test->ptini.name, request->ptini_file, err);
	return rc ? rc : load_file(request->ptini_file, &test->ptini.text, err);
}

/* --- the command line: one test, or the same on other hosts, too --- */

static int one_test(struct scenario_test *test, const char *hosts, const struct request *request,
		    const struct request_host *host, struct error *err)
{
	const bool one_gpu = request->spec.gpu != SPEC_AUTO;
	char gpu[24];
	int rc;

	test->node = calloc(1, sizeof(*test->node));
	if (!test->node)
		return error_set(err, -ENOMEM, "no memory for a scenario");
	test->nodes = 1;
	snprintf(gpu, sizeof(gpu), "%" PRIu64, request->spec.gpu);
	rc = copy(&test->node->hosts, hosts, err);
	if (rc == 0 && *request->spec.device)
		rc = copy(&test->node->devices, request->spec.device, err);
	if (rc == 0 && (one_gpu || *request->gpu_list))
		rc = copy(&test->node->gpus, one_gpu ? gpu : request->gpu_list, err);
	return rc ? rc : scenario_complete(test, request, host, err);
}

static int tests_of_line(struct scenario *scenario, const struct request *request, const struct request_host *host,
			 struct error *err)
{
	const char *const hosts[] = { request->host, request->second_incast };
	const uint32_t tests = *request->second_incast ? 2 : 1;
	int rc = 0;

	scenario->test = calloc(tests, sizeof(*scenario->test));
	if (!scenario->test)
		return error_set(err, -ENOMEM, "no memory for a scenario");
	for (uint32_t i = 0; rc == 0 && i < tests; i++) {
		scenario->tests++;
		if (tests > 1)
			snprintf(scenario->test[i].name, SPEC_NAME, "%s incast", i ? "second" : "first");
		rc = one_test(&scenario->test[i], hosts[i], request, host, err);
	}
	return rc;
}

/* --- tests of a file, which run together --- */

/* What differs between two tests that has to be the same, or NULL. */
static const char *difference(const struct spec *a, const struct spec *b)
{
	if (spec_quota(a) || spec_quota(b))
		return "iterations";
	if (a->duration_ns != b->duration_ns)
		return "duration";
	return a->warmup_ns != b->warmup_ns ? "warmupTime" : NULL;
}

static int together(const struct scenario *scenario, uint32_t index, struct error *err)
{
	const struct scenario_test *const first = &scenario->test[0], *const test = &scenario->test[index];
	const char *differs;

	if (test->iteration_sync != first->iteration_sync)
		return error_set(err, -EINVAL, "a scenario does not mix tests with and without iterationSync");
	if (test->peer_shifting || first->peer_shifting)
		return error_set(err, -EINVAL,
				 "peerShifting is for the only test of a scenario: its rounds run one after another, "
				 "tests run together");
	if (test->sweep.count > 1 || first->sweep.count > 1)
		return error_set(err, -EINVAL,
				 "a list of values is for the only test of a scenario: its values run one after "
				 "another, tests run together; give each value a test of its own");
	differs = test->iteration_sync ? NULL : difference(first->sweep.spec, test->sweep.spec);
	if (!differs)
		return 0;
	if (!strcmp(differs, "iterations"))
		return error_set(err, -EINVAL,
				 "iterations and burstCount are for the only test of a scenario: tests start and stop "
				 "together, by "
				 "their duration");
	return error_set(err, -EINVAL, "%s differs from that of the first test: tests start and stop together",
			 differs);
}

static int check_together(const struct scenario *scenario, struct error *err)
{
	for (uint32_t i = 1; i < scenario->tests; i++) {
		const int rc = together(scenario, i, err);

		if (rc && scenario->test[i].where)
			error_prefix(err, "%s", scenario->test[i].where);
		if (rc)
			return rc;
	}
	return 0;
}

int scenario_of_request(struct scenario *ret, struct request *request, const struct request_host *host,
			struct error *err)
{
	int rc;

	*ret = (struct scenario){ 0 };
	if (*request->input_file) {
		rc = request_check_side(request, err);
		if (rc == 0)
			rc = request_check_many(request, err);
		if (rc == 0)
			rc = scenario_read(ret, request, host, err);
		if (rc == 0)
			rc = check_together(ret, err);
	} else {
		rc = tests_of_line(ret, request, host, err);
	}
	if (rc == 0)
		rc = roles_settle(ret, err);
	if (rc)
		scenario_release(ret);
	return rc;
}
