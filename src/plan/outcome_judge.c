/* What the connections of a plan came to: a figure of each, the sums of each test, and whether the whole went well. */
#include "plan/outcome.h"

#include <errno.h>
#include <math.h>

void outcome_judge_result(struct result *result)
{
	if (result->status != RUN_OK || !result->measured)
		return;
	if (result_is_empty(result)) {
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

/* In step: how long an iteration took at a sender. */
static void add_steps_of(struct outcome_test *test, const struct rank_result *sender)
{
	for (uint32_t i = 0; sender && i < sender->workers; i++) {
		const struct worker_result *worker = &sender->worker[i];
		const double longest = (double)worker->longest_ns / 1e9;
		const uint64_t steps = worker->qps ? worker->sent / worker->qps : 0;

		if (!worker->timed_ns || !steps)
			continue;
		test->step_mean += worker_seconds(worker) / (double)steps;
		test->steppers++;
		test->step_max = longest > test->step_max ? longest : test->step_max;
	}
}

static void add_steps(struct outcome_test *test, const struct result *result)
{
	for (unsigned i = 0; i < result_directions(result); i++) {
		struct direction way;

		result_direction(result, i, &way);
		add_steps_of(test, result_sender(&way.result));
	}
}

static void add_instant(int64_t span[2], int64_t at_ns)
{
	if (!span[0] || at_ns < span[0])
		span[0] = at_ns;
	if (!span[1] || at_ns > span[1])
		span[1] = at_ns;
}

static void add_windows(struct outcome_stage *stage, const struct result *result)
{
	for (uint32_t i = 0; i < result->ranks; i++) {
		struct window window;

		if (!rank_window(result, &result->rank[i], &window))
			continue;
		add_instant(stage->begin_ns, window.begin_ns);
		add_instant(stage->begin_ns, window.begin_ns + llround(window.begin_skew * 1e9));
		add_instant(stage->end_ns, window.end_ns - llround(window.end_skew * 1e9));
		add_instant(stage->end_ns, window.end_ns);
	}
}

static void add_failure(struct outcome *outcome, const struct connection *c, unsigned point, const struct error *error)
{
	if (!outcome->error.code)
		outcome->error = *error;
	if (outcome->failures < OUTCOME_FAILURES)
		outcome->failure[outcome->failures++] =
			(struct outcome_failure){ .point = point, .c = *c, .error = *error };
}

static bool is_interrupted(const struct outcome *outcome)
{
	for (uint32_t i = 0; i < outcome->plan->hosts; i++)
		if (outcome->head[i].interrupted)
			return true;
	return false;
}

static int judge_one(struct outcome *outcome, const struct connection *c, unsigned point, double *figure,
		     struct error *err)
{
	struct outcome_test *test = outcome_test(outcome, point, c->test);
	struct result *result = &outcome->scratch;
	int rc;

	*figure = (double)NAN;
	if (!outcome_ran(outcome, c, point))
		return 0;
	rc = outcome_result(outcome, c, point, result, err);
	if (rc == 0) {
		outcome_judge_result(result);
		*figure = figure_of(result);
		add_figure(test, c, *figure);
		outcome_add_sums(outcome, c, point, (uint64_t)(figure - outcome->figure), result);
		add_loss(test, result);
		add_steps(test, result);
		add_windows(&outcome->stage[plan_stage_of(outcome->plan, c, point)], result);
		rc = outcome_add_bursts(outcome, c, point, result, err);
		rc = rc ? rc : outcome_add_samples(outcome, c, point, result, err);
		test->missed += result->status == RUN_THRESHOLD;
		if (result->status == RUN_FAILED && (result->error.code != -ENODATA || !is_interrupted(outcome)))
			add_failure(outcome, c, point, &result->error);
	}
	result_release(result);
	return rc;
}

/* Of a point's rounds those that ran: an end may have come in between. */
static uint64_t rounds_done(const struct outcome *outcome, unsigned point)
{
	const uint64_t rounds = outcome->plan->rounds, before = point * rounds;
	const uint64_t done = outcome->done > before ? outcome->done - before : 1;

	return done < rounds ? done : rounds;
}

static void conclude_test(struct outcome_test *test, uint64_t rounds)
{
	const uint64_t good = test->connections - test->failed;

	test->step_mean /= test->steppers ? (double)test->steppers : 1;
	test->mean = good ? test->sum / (double)good : (double)NAN;
	test->sum /= (double)rounds; /* of what runs at once */
	if (!good)
		test->sum = test->min = test->max = (double)NAN;
}

static void conclude(struct outcome *outcome)
{
	const uint32_t tests = plan_points(outcome->plan) * outcome->plan->tests;
	const bool interrupted = outcome->done < plan_stages(outcome->plan) || is_interrupted(outcome);
	bool missed = false;

	for (uint32_t i = 0; i < tests; i++) {
		const unsigned point = i / outcome->plan->tests;

		conclude_test(&outcome->test[i], rounds_done(outcome, point));
		outcome_end_sums(outcome, point, i % outcome->plan->tests, rounds_done(outcome, point));
		missed |= outcome->test[i].missed > 0;
	}
	if (outcome->status == RUN_INTERRUPTED)
		return;
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
	double *figure = outcome->figure;
	int rc = 0;

	for (unsigned point = 0; rc == 0 && point < plan_points(outcome->plan); point++) {
		struct plan_cursor cursor;
		struct connection c;

		plan_begin(&cursor, outcome->plan, PLAN_ALL_HOSTS);
		while (rc == 0 && plan_next(&cursor, &c))
			rc = judge_one(outcome, &c, point, figure++, err);
		for (uint32_t i = 0; rc == 0 && i < outcome->plan->tests; i++) {
			outcome_end_bursts(outcome, point, i);
			outcome_end_samples(outcome, point, i);
		}
	}
	conclude(outcome);
	return rc;
}

static double spread(const int64_t span[2], double most)
{
	const double seconds = (double)(span[1] - span[0]) / 1e9;

	return seconds > most ? seconds : most;
}

static void add_clocks(const struct outcome *outcome, const struct outcome_stage *stage, struct outcome_skew *ret)
{
	for (uint32_t i = 0; i < outcome->plan->hosts; i++) {
		const struct part_clock *clock = &stage->clock[i];

		for (unsigned k = 0; k < 2; k++) {
			const double error = (double)clock->error_ns[k] / 1e9, u95 = (double)clock->u95_ns[k] / 1e9;

			ret->clock_error = error > ret->clock_error ? error : ret->clock_error;
			ret->clock_u95 = u95 > ret->clock_u95 ? u95 : ret->clock_u95;
		}
	}
}

bool outcome_skew(const struct outcome *outcome, struct outcome_skew *ret)
{
	bool any = false;

	*ret = (struct outcome_skew){ 0 };
	for (uint64_t i = 0; i < outcome->done; i++) {
		const struct outcome_stage *stage = &outcome->stage[i];

		ret->begin = spread(stage->begin_ns, ret->begin);
		ret->end = spread(stage->end_ns, ret->end);
		add_clocks(outcome, stage, ret);
		any |= stage->begin_ns[0] != 0;
	}
	return outcome->measured && any;
}
