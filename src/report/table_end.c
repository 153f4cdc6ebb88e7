/* What is said below the table of a sweep: how it ended, remarks by row, thresholds, and the conditions once. */
#include "report/report.h"

#include "report/blocks.h"
#include "report/judge.h"
#include "report/page.h"

#include "base/units.h"
#include "spec/sweep.h"

#include <stdlib.h>
#include <string.h>

#define LIST    400
#define REMARKS 32 /* kinds of remarks */

/* --- remarks by row --- */

/* Rows by number, written as "2, 4-7". */
struct rows {
	bool has[SWEEP_MAX + 1];
	unsigned count;
};

static void add_row(struct rows *rows, unsigned number)
{
	rows->count += !rows->has[number];
	rows->has[number] = true;
}

static const char *rows_text(const struct rows *rows, char ret[LIST])
{
	size_t len = 0;

	ret[0] = '\0';
	for (unsigned first = 1; first <= SWEEP_MAX && len < LIST - 16; first++) {
		unsigned last = first;

		if (!rows->has[first])
			continue;
		while (last < SWEEP_MAX && rows->has[last + 1])
			last++;
		len += (size_t)snprintf(ret + len, LIST - len, last > first ? "%s%u-%u" : "%s%u", len ? ", " : "",
					first, last);
		first = last;
	}
	return ret;
}

struct kind {
	struct remark first;
	unsigned number; /* of the row whose words these are */
	struct rows others;
};

struct remarks {
	unsigned number; /* of the row at hand */
	unsigned count;
	struct kind kind[REMARKS];
};

static void gather(void *context, const struct remark *remark)
{
	struct remarks *remarks = context;
	struct kind *kind = remarks->kind, *end = kind + remarks->count;

	while (kind < end && (strcmp(kind->first.id, remark->id) != 0 || kind->first.serious != remark->serious))
		kind++;
	if (kind < end) {
		add_row(&kind->others, remarks->number);
	} else if (remarks->count < REMARKS) {
		kind->first = *remark;
		kind->number = remarks->number;
		remarks->count++;
	}
}

static void notes(const struct page *page, const struct results *results)
{
	struct remarks *remarks = calloc(1, sizeof(*remarks));
	char rows[LIST];

	for (unsigned i = 0; remarks && i < results->begun; i++) {
		remarks->number = i + 1;
		judge_result(&results->result[i], gather, remarks);
	}
	if (remarks && remarks->count)
		page_blank(page);
	for (unsigned i = 0; remarks && i < remarks->count; i++) {
		const struct kind *kind = &remarks->kind[i];
		const unsigned others = kind->others.count;

		page_line(page, kind->first.serious ? TONE_BAD : TONE_PLAIN, "%s row %u: %s%s%s%s",
			  kind->first.serious ? "!" : "note:", kind->number, kind->first.text,
			  !others      ? ""
			  : others > 1 ? " (alike in rows "
				       : " (alike in row ",
			  rows_text(&kind->others, rows), others ? ")" : "");
	}
	free(remarks);
}

static bool has_brackets(const struct results *results)
{
	for (unsigned i = 0; i < results->begun; i++) {
		struct latency latency;

		if (!result_latency(&results->result[i], &latency))
			continue;
		for (unsigned k = 0; k < latency.percentiles; k++)
			if (latency.percentile[k].p >= 99 && latency.percentile[k].p <= 99.9 &&
			    !latency.percentile[k].significant)
				return true;
	}
	return false;
}

/* --- what the whole comes to --- */

static void thresholds(const struct page *page, const struct results *results)
{
	const bool lat = results->request.spec.metric == METRIC_LAT;
	const double asked = lat ? results->request.spec.lat_threshold : results->request.spec.bw_threshold;
	struct rows missed = { 0 };
	char text[UNITS_TEXT], rows[LIST];
	const char *verdict = "passed in all rows";

	for (unsigned i = 0; i < results->begun; i++)
		if ((lat ? result_lat_threshold : result_bw_threshold)(&results->result[i]) < 0)
			add_row(&missed, i + 1);
	if (missed.count)
		verdict = missed.count > 1 ? "missed in rows " : "missed in row ";
	if (asked > 0)
		page_line(page, missed.count ? TONE_BAD : TONE_GOOD, "Threshold: %s %s %s: %s%s",
			  lat ? "median latency <=" : "BW >=", units_format_figure(asked, text),
			  lat ? "usec" : "Gbit/sec", verdict, rows_text(&missed, rows));
}

static void outcome(const struct page *page, const struct results *results)
{
	if (results->status == RUN_FAILED)
		page_line(page, TONE_BAD, "Failed in test %u of %u: %s", results->worst + 1, results->asked,
			  results->error.text);
	else if (results->status == RUN_INTERRUPTED)
		page_line(page, TONE_BAD, "Interrupted in test %u of %u", results->worst + 1, results->asked);
}

static const struct result *first_measured(const struct results *results)
{
	for (unsigned i = 0; i < results->begun; i++)
		if (results->result[i].measured)
			return &results->result[i];
	return NULL;
}

static void histograms(const struct page *page, const struct results *results)
{
	for (unsigned i = 0; i < results->begun; i++) {
		if (!results->request.spec.qp_histogram || !results->result[i].measured)
			continue;
		page_blank(page);
		page_line(page, TONE_HEADING, "Row %u", i + 1);
		block_qps(page, &results->result[i]);
	}
}

void report_table_end(FILE *to, const struct results *results)
{
	const struct result *first = first_measured(results);
	struct result whole;
	struct page page;

	page_init(&page, to);
	outcome(&page, results);
	if (has_brackets(results))
		page_line(&page, TONE_PLAIN, "In brackets: not significant, fewer than ten samples beyond it");
	histograms(&page, results);
	notes(&page, results);
	thresholds(&page, results);
	if (first) {
		whole = *first;
		whole.request = results->request;
		page_blank(&page);
		page_line(&page, TONE_PLAIN,
			  "Set-ups: %u for %u tests. The conditions are those of row %u; each row's "
			  "own are in the JSON document.",
			  results->setups, results->begun, (unsigned)(first - results->result) + 1);
		block_conditions(&page, &whole);
	}
	fflush(to);
}
