/* Rates of single queue pairs: they add up to the figure, the mean is that of all workers, nothing is made up. */
#include "pair.h"
#include "spec/result.h"

static void rates_add_up(void **state)
{
	const double gbps = 65536 * 8 / 1e9;
	struct qp_rates all;
	struct result result;
	double sum = 0;

	(void)state;
	make(&result, 2, false);
	assert_int_equal(rank_result_alloc_qps(&result.rank[0], 3), 0);
	result.rank[0].worker[1].end_ns = 1500000000; /* half of the time */
	for (unsigned w = 0; w < 2; w++) {
		for (unsigned qp = 0; qp < 3; qp++) {
			result.rank[0].worker[w].qp[qp].sent[0] = 1000;
			result.rank[0].worker[w].qp[qp].sent[1] = 1000 + 100 * (qp + 1);
			result.rank[0].worker[w].sent += 100 * (qp + 1);
		}
	}
	assert_true(rank_qp_rates(&result, &result.rank[0], &all));
	assert_int_equal(all.count, 6);
	NEAR(all.largest, 600 * gbps);
	NEAR(all.mean, 300 * gbps);
	for (unsigned w = 0; w < 2; w++)
		for (unsigned qp = 0; qp < 3; qp++)
			sum += rank_qp_gbps(&result, &result.rank[0], w, qp);
	NEAR(sum, rank_rate(&result, &result.rank[0]).gbps);
	NEAR(qp_deviation(&all, rank_qp_gbps(&result, &result.rank[0], 0, 0)), -200 / 3.0);
	NEAR(qp_deviation(&all, rank_qp_gbps(&result, &result.rank[0], 1, 2)), 100.0);
	assert_true(rank_qp_gbps(&result, &result.rank[0], 0, 3) <= 0);
	assert_false(rank_qp_rates(&result, &result.rank[1], &all));
	assert_false(rank_qp_rates(&result, NULL, &all));
	result_release(&result);
}

/* A worker that never had a window, and counters that a stranger made up. */
static void nothing_is_made_up(void **state)
{
	struct qp_rates all;
	struct result result;

	(void)state;
	make(&result, 2, false);
	assert_int_equal(rank_result_alloc_qps(&result.rank[0], 1), 0);
	result.rank[0].worker[0].end_ns = result.rank[0].worker[0].begin_ns;
	result.rank[0].worker[0].qp[0].sent[1] = 5;
	result.rank[0].worker[1].qp[0].sent[0] = 5;
	assert_true(rank_qp_rates(&result, &result.rank[0], &all));
	assert_int_equal(all.count, 1);
	assert_true(all.mean <= 0 && all.largest <= 0);
	assert_true(isnan(qp_deviation(&all, 0)));
	result_release(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_add_up),
		cmocka_unit_test(nothing_is_made_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
