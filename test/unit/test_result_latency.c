/* Latency figures against closed forms: halving, percentiles, outliers, all workers merged. */
#include "base/hist.h"
#include "pair.h"
#include "spec/result.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Samples 1 ... 1000 us over two workers. */
static void record_thousand(struct result *result)
{
	for (unsigned i = 1; i <= 1000; i++)
		hist_record(result->rank[0].worker[i % 2].hist, (uint64_t)i * 1000);
}

static const char *const verbs_text[] = { "halved", "completion" };

static void test_latency(void **state)
{
	const enum verb verbs[] = { VERB_SEND, VERB_READ };
	struct result result;
	struct latency latency;

	(void)state;
	for (unsigned v = 0; v < 2; v++) {
		const double scale = v == 0 ? 0.5 : 1;

		make(&result, 2, true);
		assert_false(result_latency(&result, &latency));
		result.request.spec.verb = verbs[v];
		memset(result.request.spec.percentiles, 0, sizeof(result.request.spec.percentiles));
		result.request.spec.percentiles[0] = 50;
		result.request.spec.percentiles[1] = 99;
		record_thousand(&result);
		assert_true(result_latency(&result, &latency));
		assert_string_equal(verbs_text[v], latency.halved ? "halved" : "completion");
		assert_int_equal(latency.samples, 1000);
		NEAR(latency.min, scale * 1);
		NEAR(latency.max, scale * 1000);
		NEAR(latency.mean, scale * 500.5);
		assert_true(fabs(latency.median - scale * 500) <= scale * 500 * 0.008);
		NEAR(latency.stddev, scale * sqrt((1000.0 * 1000.0 - 1) / 12));
		assert_int_equal(latency.percentiles, 3); /* 50, 99 (once) and 99.9 */
		NEAR(latency.percentile[0].p, 50.0);
		NEAR(latency.percentile[1].p, 99.0);
		assert_true(fabs(latency.percentile[1].us - scale * 990) <= scale * 990 * 0.008);
		assert_int_equal(latency.percentile[1].beyond, 10);
		assert_true(latency.percentile[1].significant);
		NEAR(latency.percentile[2].p, 99.9);
		assert_int_equal(latency.percentile[2].beyond, 1);
		assert_false(latency.percentile[2].significant);
		result_release(&result);
	}
}

static void test_outlier_is_the_maximum(void **state)
{
	struct result result;
	struct latency latency;

	(void)state;
	make(&result, 1, true);
	result.request.spec.verb = VERB_READ;
	for (unsigned i = 0; i < 999999; i++)
		hist_record(result.rank[0].worker[0].hist, 5000);
	hist_record(result.rank[0].worker[0].hist, 10000000);
	assert_true(result_latency(&result, &latency));
	NEAR(latency.max, 10000.0);
	assert_true(fabs(latency.median - 5.0) <= 0.008 * 5.0);
	assert_true(fabs(latency.percentile[latency.percentiles - 1].us - 5.0) <= 0.008 * 5.0);
	result_release(&result);
}

static void test_many_percentiles(void **state)
{
	struct result result;
	struct latency latency;

	(void)state;
	make(&result, 1, true);
	for (unsigned i = 0; i < SPEC_MAX_PERCENTILES; i++)
		result.request.spec.percentiles[i] = 1 + i;
	hist_record(result.rank[0].worker[0].hist, 5000);
	assert_true(result_latency(&result, &latency));
	assert_int_equal(latency.percentiles, SPEC_MAX_PERCENTILES + 2);
	for (unsigned i = 1; i < latency.percentiles; i++)
		assert_true(latency.percentile[i].p > latency.percentile[i - 1].p);
	result_release(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_latency),
		cmocka_unit_test(test_outlier_is_the_maximum),
		cmocka_unit_test(test_many_percentiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
