/* The table of congestion impact: each figure of each victim alone, under load and alone again, and its factor. */
#include "report/impact.h"

#include "base/units.h"
#include "report/page.h"

#include <math.h>
#include <string.h>

#define NAME_WIDTH 40 /* most columns of a victim's name */
#define NAME       (SPEC_NAME + 16)

static const struct {
	const char *name, *unit;
} figures[IMPACT_FIGURES] = {
	[IMPACT_MEAN] = { "mean", "usec" },
	[IMPACT_P99] = { "99 %", "usec" },
	[IMPACT_P999] = { "99.9 %", "usec" },
	[IMPACT_RATE] = { "bandwidth", "Gbit/sec" },
};

static const char *name_of(const struct plan *plan, uint32_t test, char ret[NAME])
{
	if (*plan->test[test].name)
		return plan->test[test].name;
	snprintf(ret, NAME, "test %u", test + 1);
	return ret;
}

static int width_of_names(const struct plan *plan)
{
	size_t width = strlen("victim");
	char name[NAME];

	for (uint32_t i = 0; i < plan->tests; i++)
		if (plan->test[i].role == ROLE_VICTIM && strlen(name_of(plan, i, name)) > width)
			width = strlen(name_of(plan, i, name));
	return width < NAME_WIDTH ? (int)width : NAME_WIDTH;
}

/* "-" for what is not known; in brackets what too few samples tell. */
static const char *cell(double value, bool sure, char ret[UNITS_TEXT + 2])
{
	char text[UNITS_TEXT];

	if (isnan(value))
		return "-";
	snprintf(ret, UNITS_TEXT + 2, "%s%s%s", sure ? "" : "(", units_format_figure(value, text), sure ? "" : ")");
	return ret;
}

static bool is_sure(const struct impact *impact)
{
	return impact->sure[IMPACT_BEFORE] && impact->sure[IMPACT_LOADED] && impact->sure[IMPACT_AFTER];
}

static void row(const struct page *page, int width, const char *name, enum impact_figure figure,
		const struct impact *impact)
{
	char phase[IMPACT_PHASES][UNITS_TEXT + 2], factor[UNITS_TEXT + 2];
	const char *text[IMPACT_PHASES];

	for (unsigned i = 0; i < IMPACT_PHASES; i++)
		text[i] = cell(impact->phase[i], impact->sure[i], phase[i]);
	page_line(page, TONE_PLAIN, "  %-*.*s  %-9s %-8s %11s %11s %11s %11s", width, width, name, figures[figure].name,
		  figures[figure].unit, text[IMPACT_BEFORE], text[IMPACT_LOADED], text[IMPACT_AFTER],
		  cell(impact->factor, is_sure(impact), factor));
}

static void differ(const struct page *page, const char *name, enum impact_figure figure, const struct impact *impact)
{
	char apart[UNITS_TEXT], before[UNITS_TEXT + 2], after[UNITS_TEXT + 2];

	if (!impact->uncertain || !is_sure(impact))
		return;
	page_line(page, TONE_BAD,
		  "! %s, %s: the isolated phases differ by %s %%, more than %g %%, so something besides the load "
		  "changed, "
		  "or the network has not come back, and the factor is uncertain: %s by the phase before, %s by the "
		  "phase after",
		  name, figures[figure].name,
		  isnan(impact->apart) ? "?" : units_format_figure(100 * impact->apart, apart), 100 * IMPACT_APART,
		  cell(impact->by_before, true, before), cell(impact->by_after, true, after));
}

/* A row, or a remark, for each figure of each victim; whether all have the samples that they need. */
static bool walk(const struct page *page, const struct outcome *outcome, bool rows)
{
	const int width = width_of_names(outcome->plan);
	bool sure = true;

	for (uint32_t i = 0; i < outcome->plan->tests; i++) {
		for (enum impact_figure figure = IMPACT_MEAN; figure < IMPACT_FIGURES; figure++) {
			struct impact impact;
			char name[NAME];

			if (!outcome_impact(outcome, i, figure, &impact))
				continue;
			sure &= is_sure(&impact);
			if (rows)
				row(page, width, name_of(outcome->plan, i, name), figure, &impact);
			else
				differ(page, name_of(outcome->plan, i, name), figure, &impact);
		}
	}
	return sure;
}

void block_impact(const struct page *page, const struct outcome *outcome)
{
	const int width = width_of_names(outcome->plan);

	if (outcome->done <= IMPACT_LOADED)
		return;
	page_line(page, TONE_HEADING, "Congestion impact: latency loaded / isolated, bandwidth isolated / loaded");
	page_line(page, TONE_PLAIN, "isolated is the mean of the isolated phases that have a figure");
	page_line(page, TONE_HEADING, "  %-*s  %-18s %11s %11s %11s %11s", width, "victim", "", "isolated", "loaded",
		  "isolated", "factor");
	if (!walk(page, outcome, true))
		page_line(page, TONE_DIM, "(...): fewer than ten samples lie beyond it");
	walk(page, outcome, false);
	if (!outcome_load_whole(outcome))
		page_line(page, TONE_BAD, "! the factors are not of the whole load: %s",
			  outcome->stage[IMPACT_LOADED].interrupted ? "the loaded phase was interrupted"
								    : "an aggressor failed in the loaded phase");
	page_blank(page);
}
