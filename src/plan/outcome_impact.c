/* Figures of victims: the samples of all connections of a test together, and each figure in the phases. */
#include "plan/outcome.h"

#include "base/hist.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static bool is_latency_victim(const struct plan_test *test)
{
	return test->role == ROLE_VICTIM && test->sweep.spec[0].metric == METRIC_LAT;
}

int outcome_add_samples(struct outcome *outcome, const struct connection *c, unsigned point,
			const struct result *result, struct error *err)
{
	struct outcome_test *test = outcome_test(outcome, point, c->test);

	if (!is_latency_victim(&outcome->plan->test[c->test]))
		return 0;
	if (!test->samples) {
		test->samples = malloc(sizeof(*test->samples));
		if (!test->samples)
			return error_set(err, -ENOMEM, "no memory for the samples of a test");
		hist_init(test->samples);
	}
	result_hist(result, test->samples);
	return 0;
}

void outcome_end_samples(struct outcome *outcome, unsigned point, uint32_t number)
{
	struct outcome_test *test = outcome_test(outcome, point, number);

	test->has_latency = test->samples &&
			    latency_of(&outcome->plan->test[number].sweep.spec[point], test->samples, &test->latency);
	free(test->samples);
	test->samples = NULL;
}

void outcome_drop_samples(struct outcome *outcome)
{
	const uint32_t tests = outcome->test ? plan_points(outcome->plan) * outcome->plan->tests : 0;

	for (uint32_t i = 0; i < tests; i++)
		free(outcome->test[i].samples);
}

static double percentile(const struct latency *latency, double p, bool *sure)
{
	for (unsigned i = 0; i < latency->percentiles; i++) {
		if (fabs(latency->percentile[i].p - p) > 1e-9)
			continue;
		*sure = latency->percentile[i].significant;
		return latency->percentile[i].us;
	}
	return (double)NAN;
}

/* In one phase. A test of which a connection failed is another test: it has none. */
static double figure_of(const struct outcome_test *test, enum impact_figure figure, bool *sure)
{
	*sure = true;
	if (!test->connections || test->failed || (figure != IMPACT_RATE && !test->has_latency))
		return (double)NAN;
	switch (figure) {
	case IMPACT_MEAN:
		return test->latency.mean;
	case IMPACT_P99:
		return percentile(&test->latency, 99, sure);
	case IMPACT_P999:
		return percentile(&test->latency, 99.9, sure);
	default:
		return test->sum;
	}
}

bool outcome_impact(const struct outcome *outcome, uint32_t test, enum impact_figure figure, struct impact *ret)
{
	const struct plan_test *planned = &outcome->plan->test[test];

	*ret = (struct impact){ 0 };
	if (planned->role != ROLE_VICTIM || is_latency_victim(planned) == (figure == IMPACT_RATE))
		return false;
	for (unsigned phase = 0; phase < IMPACT_PHASES; phase++) {
		ret->phase[phase] = figure_of(outcome_test(outcome, phase, test), figure, &ret->sure[phase]);
		if (phase != IMPACT_LOADED && outcome->stage[phase].interrupted)
			ret->phase[phase] = (double)NAN; /* a short one is no reference */
	}
	impact_compute(ret, figure == IMPACT_RATE);
	return true;
}

bool outcome_load_whole(const struct outcome *outcome)
{
	uint64_t failed = 0;

	for (uint32_t i = 0; i < outcome->plan->tests; i++)
		if (outcome->plan->test[i].role == ROLE_AGGRESSOR)
			failed += outcome_test(outcome, IMPACT_LOADED, i)->failed;
	return outcome->done > IMPACT_LOADED && !outcome->stage[IMPACT_LOADED].interrupted && !failed;
}
