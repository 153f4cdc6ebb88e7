/* Remarks: everything that makes a figure less than it seems, one line each; '!' where it may be wrong, 'note:' else. */
#include "report/blocks.h"
#include "report/page.h"

#include "base/units.h"
#include "report/judge.h"
#include "spec/result.h"

#include <math.h>

struct printer {
	const struct page *page;
	bool began;
};

static void print(void *context, const struct remark *remark)
{
	struct printer *printer = context;

	if (!printer->began)
		page_blank(printer->page);
	printer->began = true;
	page_line(printer->page, remark->serious ? TONE_BAD : TONE_PLAIN, "%s %s",
		  remark->serious ? "!" : "note:", remark->text);
}

void block_notes(const struct page *page, const struct result *result)
{
	struct printer printer = { .page = page };

	judge_result(result, print, &printer);
}

static void verdict(const struct page *page, bool measured, int outcome, const char *what, double asked,
		    const char *sign, const char *unit)
{
	char text[UNITS_TEXT];

	if (outcome == 0)
		return;
	page_line(page, outcome > 0 ? TONE_GOOD : TONE_BAD, "Threshold: %s %s %s %s: %s", what, sign,
		  units_format_figure(asked, text), unit,
		  outcome > 0 ? "passed"
		  : measured  ? "missed"
			      : "not measured");
}

void block_threshold(const struct page *page, const struct result *result)
{
	const struct spec *spec = &result->request.spec;

	verdict(page, result->measured, result_bw_threshold(result), "BW", spec->bw_threshold, ">=", "Gbit/sec");
	verdict(page, result->measured, result_lat_threshold(result), "median latency", spec->lat_threshold,
		"<=", "usec");
}
