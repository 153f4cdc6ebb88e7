/* A knee beside a second incast that shares a buffer, made up: the text, and the document by the schema (test/golden/report). */
#include "golden.h"
#include "report/knee.h"

#include <math.h>

static struct plan *make_plan(struct request *request)
{
	struct scenario scenario = { .tests = 1, .test = calloc(1, sizeof(*scenario.test)) };
	struct scenario_test *const test = scenario.test;
	struct plan *plan;

	assert_non_null(test);
	request_init(request);
	request->spec.size = 1400;
	request->spec.driver = DRIVER_SOCK;
	request->spec.transport = TRANSPORT_UDP;
	request->spec.verb = VERB_SEND;
	request->spec.burst_profile = BURST_SYNC;
	test->pattern = PATTERN_MANY_TO_ONE;
	test->nodes = 1;
	test->node = calloc(1, sizeof(*test->node));
	assert_non_null(test->node);
	test->node->hosts = strdup("node[1-4]");
	test->node->devices = strdup("d0");
	assert_int_equal(sweep_alloc(&test->sweep, 1, NULL), 0);
	test->sweep.spec[0] = request->spec;
	assert_int_equal(plan_build(&plan, &scenario, NULL), 0);
	scenario_release(&scenario);
	return plan;
}

/* Of three connections; loses what is beyond the limit, and of the last size as well, where the second queue did not. */
static void make_knee(struct knee *knee, double limit)
{
	const double frame = 1442;

	*knee = (struct knee){ .frame = frame,
			       .payload = 1400,
			       .connections = 3,
			       .slow = true,
			       .estimates = 6,
			       .limit = { limit, 0.99 * limit, 1.01 * limit } };
	knee->messages = (struct infer_range){ limit / (2 * frame), knee->limit.low / (2 * frame),
					       knee->limit.high / (2 * frame) };
	for (uint64_t messages = 32; messages <= 128; messages *= 2) {
		const double over = fmax(2 * frame * (double)messages - limit, 0);
		const struct knee_point point = { .messages = messages,
						  .sent = 30 * messages,
						  .lost = (uint64_t)(10 * over / frame),
						  .calm = limit < 150e3 && messages == 128 };

		assert_int_equal(knee_add(knee, &point, NULL), 0);
		if (over > 0 && !point.calm)
			knee->point[knee->points - 1].limit = limit;
		knee->point[knee->points - 1].predicted = over / (3 * frame * (double)messages);
	}
	knee->clean = 32;
	knee->lossy = 64;
}

static void test_dynamic(void **state)
{
	struct knees knees = { 0 };
	struct outcome *outcome = calloc(1, sizeof(*outcome));
	struct request request;
	struct plan *plan = make_plan(&request);
	char *text = NULL, *json;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(outcome_init(outcome, &request, plan, NULL), 0);
	make_knee(&knees.one, 180e3);
	make_knee(&knees.two, 120e3);
	share_infer(&knees.one.limit, &knees.two.limit, &knees.share); /* a pool of 360 kB, alpha 1 */
	report_knee(to, &knees, plan);
	assert_int_equal(fclose(to), 0);
	check_golden("knee", "txt", text);
	free(text);
	json = report_knee_json(&knees, outcome);
	assert_non_null(json);
	text = golden_stable(json_loads(json, JSON_REJECT_DUPLICATES, NULL));
	check_golden("knee", "json", text);
	free(text);
	free(json);
	knee_release(&knees.one);
	knee_release(&knees.two);
	outcome_release(outcome);
	free(outcome);
	plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_dynamic) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
