/* What the connections of a plan came to: a figure of each, the sums of each test, and whether the whole went well. */
#include "plan/outcome.h"

#include <errno.h>
#include <math.h>

/* Nothing was sent, or nothing answered, in the whole window: that is no figure. */
static bool is_empty(const struct result *result)
{
	struct latency latency;

	if (result->request.spec.metric == METRIC_LAT)
		return !result_latency(result, &latency) && !result_unanswered(result);
	for (unsigned i = 0; i < result_directions(result); i++) {
		struct direction way;

		result_direction(result, i, &way);
		if (rank_rate(&way.result, result_sender(&way.result)).messages == 0)
			return true;
	}
	return false;
}

void outcome_judge_result(struct result *result)
{
	if (result->status != RUN_OK || !result->measured)
		return;
	if (is_empty(result)) {
		result->status = RUN_FAILED;
		error_set(&result->error, -ENODATA, "no message completed inside the window: give a longer --duration");
	} else if (result_bw_threshold(result) < 0 || result_lat_threshold(result) < 0) {
		result->status = RUN_THRESHOLD;
	}
}

static double figure_of(const struct result *result)
{
	struct latency latency;

	if (result->status == RUN_FAILED)
		return (double)NAN;
	if (result->request.spec.metric == METRIC_LAT)
		return result_latency(result, &latency) ? latency.median : (double)NAN;
	return result_rate(result).gbps;
}

static void add_figure(struct outcome_test *test, const struct connection *c, double figure)
{
	const uint64_t before = test->connections++ - test->failed;

	if (isnan(figure)) {
		test->failed++;
		return;
	}
	if (!before || figure < test->min) {
		test->min = figure;
		test->lowest = *c;
	}
	if (!before || figure > test->max) {
		test->max = figure;
		test->highest = *c;
	}
	test->sum += figure;
}

static void add_loss(struct outcome_test *test, const struct result *result)
{
	for (unsigned i = 0; i < result_directions(result); i++) {
		struct direction way;
		struct loss loss;

		result_direction(result, i, &way);
		if (!result_loss(&way.result, &loss))
			continue;
		test->counted = true;
		test->sent += loss.sent;
		test->received += loss.received;
		test->lost += loss.lost;
	}
}

static void add_instant(int64_t span[2], int64_t at_ns)
{
	if (!span[0] || at_ns < span[0])
		span[0] = at_ns;
	if (!span[1] || at_ns > span[1])
		span[1] = at_ns;
}

static void add_windows(struct outcome *outcome, const struct result *result)
{
	for (uint32_t i = 0; i < result->ranks; i++) {
		struct window window;

		if (!rank_window(result, &result->rank[i], &window))
			continue;
		add_instant(outcome->begin_ns, window.begin_ns);
		add_instant(outcome->begin_ns, window.begin_ns + llround(window.begin_skew * 1e9));
		add_instant(outcome->end_ns, window.end_ns - llround(window.end_skew * 1e9));
		add_instant(outcome->end_ns, window.end_ns);
	}
}

static int judge_one(struct outcome *outcome, const struct connection *c, uint64_t number, struct error *err)
{
	struct outcome_test *test = &outcome->test[c->test];
	struct result *result = &outcome->scratch;
	int rc = outcome_result(outcome, c, result, err);

	if (rc == 0) {
		outcome_judge_result(result);
		outcome->figure[number] = figure_of(result);
		add_figure(test, c, outcome->figure[number]);
		add_loss(test, result);
		add_windows(outcome, result);
		test->missed += result->status == RUN_THRESHOLD;
		if (result->status == RUN_FAILED && !outcome->error.code)
			outcome->error = result->error;
	}
	result_release(result);
	return rc;
}

static void conclude(struct outcome *outcome)
{
	bool missed = false, interrupted = false;

	for (uint32_t i = 0; i < outcome->plan->tests; i++) {
		struct outcome_test *test = &outcome->test[i];
		const uint64_t good = test->connections - test->failed;

		test->mean = good ? test->sum / (double)good : (double)NAN;
		missed |= test->missed > 0;
		if (!good)
			test->sum = test->min = test->max = (double)NAN;
	}
	for (uint32_t i = 0; i < outcome->plan->hosts; i++)
		interrupted |= outcome->head[i].interrupted;
	if (outcome->error.code)
		outcome->status = RUN_FAILED;
	else if (interrupted) {
		outcome->status = RUN_INTERRUPTED;
		error_set(&outcome->error, -EINTR, "interrupted");
	} else if (missed)
		outcome->status = RUN_THRESHOLD;
}

int outcome_judge(struct outcome *outcome, struct error *err)
{
	struct plan_cursor cursor;
	struct connection c;
	uint64_t number = 0;
	int rc = 0;

	plan_begin(&cursor, outcome->plan, PLAN_ALL_HOSTS);
	while (rc == 0 && plan_next(&cursor, &c))
		rc = judge_one(outcome, &c, number++, err);
	conclude(outcome);
	return rc;
}

bool outcome_skew(const struct outcome *outcome, struct outcome_skew *ret)
{
	int64_t error = 0, u95 = 0;

	for (uint32_t i = 0; i < outcome->plan->hosts; i++) {
		const struct part_clock *clock = &outcome->clock[i];

		for (unsigned k = 0; k < 2; k++) {
			error = clock->error_ns[k] > error ? clock->error_ns[k] : error;
			u95 = clock->u95_ns[k] > u95 ? clock->u95_ns[k] : u95;
		}
	}
	*ret = (struct outcome_skew){ .begin = (double)(outcome->begin_ns[1] - outcome->begin_ns[0]) / 1e9,
				      .end = (double)(outcome->end_ns[1] - outcome->end_ns[0]) / 1e9,
				      .clock_error = (double)error / 1e9,
				      .clock_u95 = (double)u95 / 1e9 };
	return outcome->measured && outcome->begin_ns[0];
}
