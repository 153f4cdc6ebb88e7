/* Congestion impact in the result document: each figure of each victim in the phases, and its factor. */
#include "report/impact.h"

#include "report/tree.h"

#include <math.h>

/* Keys of a figure, and of its values in their unit. */
static const struct {
	const char *key, *before, *loaded, *after, *isolated;
} rows[IMPACT_FIGURES] = {
#define ROW(key, unit)                                                                                                 \
	{                                                                                                              \
		key, "isolatedBefore" unit, "loaded" unit, "isolatedAfter" unit, "isolated" unit                       \
	}
	[IMPACT_MEAN] = ROW("latencyMean", "Usec"),
	[IMPACT_P99] = ROW("latencyP99", "Usec"),
	[IMPACT_P999] = ROW("latencyP999", "Usec"),
	[IMPACT_RATE] = ROW("bandwidth", "GbSec"),
#undef ROW
};

static json_t *figure_part(enum impact_figure figure, const struct impact *impact)
{
	const bool both = !isnan(impact->phase[IMPACT_BEFORE]) && !isnan(impact->phase[IMPACT_AFTER]);
	json_t *object = json_object();

	tree_put(&object, rows[figure].before, tree_real(impact->phase[IMPACT_BEFORE]));
	tree_put(&object, rows[figure].loaded, tree_real(impact->phase[IMPACT_LOADED]));
	tree_put(&object, rows[figure].after, tree_real(impact->phase[IMPACT_AFTER]));
	tree_put(&object, rows[figure].isolated, tree_real(impact->isolated));
	tree_put(&object, "factor", tree_real(impact->factor));
	tree_put(&object, "factorByBefore", tree_real(impact->by_before));
	tree_put(&object, "factorByAfter", tree_real(impact->by_after));
	tree_put(&object, "isolatedDifferPercent", tree_real(100 * impact->apart));
	tree_put(&object, "uncertain", both ? json_boolean(impact->uncertain) : json_null());
	tree_put(
		&object, "significant",
		json_boolean(impact->sure[IMPACT_BEFORE] && impact->sure[IMPACT_LOADED] && impact->sure[IMPACT_AFTER]));
	return object;
}

static json_t *victim_part(const struct outcome *outcome, uint32_t test)
{
	json_t *object = json_object();

	tree_put(&object, "test", tree_count(test));
	tree_put(&object, "testName", tree_text_or_null(outcome->plan->test[test].name));
	for (enum impact_figure figure = IMPACT_MEAN; figure < IMPACT_FIGURES; figure++) {
		struct impact impact;

		tree_put(&object, rows[figure].key,
			 outcome_impact(outcome, test, figure, &impact) ? figure_part(figure, &impact) : json_null());
	}
	return object;
}

json_t *part_impact(const struct outcome *outcome)
{
	json_t *object = json_object(), *victims = json_array();

	for (uint32_t i = 0; i < outcome->plan->tests; i++)
		if (outcome->plan->test[i].role == ROLE_VICTIM)
			tree_append(&victims, victim_part(outcome, i));
	tree_put(&object, "loadWhole", json_boolean(outcome_load_whole(outcome)));
	tree_put(&object, "differLimitPercent", tree_real(100 * IMPACT_APART));
	tree_put(&object, "victims", victims);
	return object;
}
