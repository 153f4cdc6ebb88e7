/* Where loss begins, for people: the curve of what was lost of bursts of each size, the knee and the buffer behind it. */
#include "report/knee.h"

#include "base/units.h"
#include "report/page.h"
#include "spec/spec.h"

#include <math.h>
#include <string.h>

#define CELLS 40 /* of a bar, which is 100 % */
#define CALM  '.' /* instead of #: the second queue was not full */
#define KB    1e3

/* "-" for what is not known. */
static const char *percent(double share, char *text)
{
	if (isnan(share))
		return "-";
	return units_format_figure(100 * share, text);
}

static void row(const struct page *page, const struct knee *knee, const struct knee_point *point)
{
	const double share = point->sent ? (double)point->lost / (double)point->sent : 0;
	char volume[UNITS_TEXT], lost[UNITS_TEXT], model[UNITS_TEXT], bar[CELLS + 1] = "";

	memset(bar, point->calm ? CALM : '#', (size_t)ceil(CELLS * fmin(share, 1)));
	units_format_figure((double)point->messages * knee->connections * knee->frame / KB, volume);
	page_line(page, TONE_PLAIN, "  %8llu %10s %10llu %8llu %8s %8s  %s", (unsigned long long)point->messages,
		  volume, (unsigned long long)point->sent, (unsigned long long)point->lost, percent(share, lost),
		  percent(point->predicted, model), bar);
}

/* "95 %: 70.1 ... 74.3; " or nothing. */
static void range(char *ret, size_t size, const struct infer_range *of, double scale)
{
	char low[UNITS_TEXT], high[UNITS_TEXT];

	ret[0] = '\0';
	if (isfinite(of->low) && isfinite(of->high))
		snprintf(ret, size, "95 %%: %s ... %s; ", units_format_figure(of->low / scale, low),
			 units_format_figure(of->high / scale, high));
}

static void begins(const struct page *page, const struct knee *knee)
{
	char value[UNITS_TEXT], remark[4 * UNITS_TEXT + 96];

	if (!knee->lossy) {
		page_text(page, "Loss begins at", "-", "messages", "nothing was lost: try larger bursts");
		return;
	}
	range(remark, sizeof(remark), &knee->messages, 1);
	snprintf(remark + strlen(remark), sizeof(remark) - strlen(remark), "none lost of %llu, some of %llu",
		 (unsigned long long)knee->clean, (unsigned long long)knee->lossy);
	page_text(page, "Loss begins at",
		  isfinite(knee->messages.median) ? units_format_figure(knee->messages.median, value) : "-", "messages",
		  remark);
}

static void buffer(const struct page *page, const struct knee *knee)
{
	char value[UNITS_TEXT], remark[4 * UNITS_TEXT + 96];

	if (!knee->estimates)
		return;
	range(remark, sizeof(remark), &knee->limit, KB);
	snprintf(remark + strlen(remark), sizeof(remark) - strlen(remark), "frames; median of %u sizes",
		 knee->estimates);
	page_text(page, "Buffer", units_format_figure(knee->limit.median / KB, value), "kB", remark);
	snprintf(remark, sizeof(remark), "of payload: --buffer_limit %.0f",
		 knee->limit.median * knee->payload / knee->frame);
	page_text(page, "Buffer's payload",
		  units_format_figure(knee->limit.median * knee->payload / knee->frame / KB, value), "kB", remark);
}

static bool any_calm(const struct knee *knee)
{
	for (uint32_t i = 0; i < knee->points; i++)
		if (knee->point[i].calm && knee->point[i].lost)
			return true;
	return false;
}

static void search(const struct page *page, const struct knee *knee)
{
	page_line(page, TONE_PLAIN, "  %8s %10s %10s %8s %8s %8s", "messages", "kB of all", "sent", "lost", "lost %",
		  "model %");
	for (uint32_t i = 0; i < knee->points; i++)
		row(page, knee, &knee->point[i]);
	if (any_calm(knee))
		page_line(page, TONE_DIM,
			  "  %c: the second queue lost nearly nothing, so that such a size tells nothing.", CALM);
	page_blank(page);
	begins(page, knee);
	buffer(page, knee);
}

/* A figure of the shared buffer; without bounds above: "or more". */
static void shared(const struct page *page, const char *label, const struct infer_range *of, double scale,
		   const char *unit)
{
	char value[UNITS_TEXT], low[UNITS_TEXT], remark[4 * UNITS_TEXT];

	if (isfinite(of->high))
		range(remark, sizeof(remark), of, scale);
	else
		snprintf(remark, sizeof(remark), "95 %%: %s or more; ", units_format_figure(of->low / scale, low));
	remark[strlen(remark) - 2] = '\0';
	page_text(page, label, isfinite(of->median) ? units_format_figure(of->median / scale, value) : "-", unit,
		  remark);
}

static void sharing(const struct page *page, const struct share *share)
{
	char value[UNITS_TEXT], remark[4 * UNITS_TEXT + 96];

	page_blank(page);
	range(remark, sizeof(remark), &share->ratio, 1);
	snprintf(remark + strlen(remark), sizeof(remark) - strlen(remark), "of one queue alone to that of each of two");
	page_text(page, "Ratio of buffers",
		  isfinite(share->ratio.median) ? units_format_figure(share->ratio.median, value) : "-", "times",
		  remark);
	if (share->kind == SHARE_UNCLEAR)
		page_text(page, "Limit", "unclear", "kind", share->why);
	else if (share->kind == SHARE_STATIC)
		page_text(page, "Limit", "static", "kind", "each queue has its own");
	else
		page_text(page, "Limit", "dynamic", "kind", "alpha times what is free of a pool");
	if (share->kind != SHARE_DYNAMIC)
		return;
	shared(page, "Pool", &share->pool, KB, "kB");
	shared(page, "Alpha", &share->alpha, 1, "times");
}

void report_knee(FILE *to, const struct knees *knees, const struct plan *plan)
{
	const struct spec *const spec = &plan->test[0].sweep.spec[0];
	struct page page;

	page_init(&page, to);
	page_line(&page, TONE_HEADING, "Knee: %s of %.0f connections, %s %s, %llu bytes",
		  burst_name(spec->burst_profile), knees->one.connections, transport_name(spec->transport),
		  verb_name(spec->verb), (unsigned long long)spec->size);
	search(&page, &knees->one);
	if (knees->two.points) {
		page_blank(&page);
		page_line(&page, TONE_HEADING, "The same beside the second incast");
		search(&page, &knees->two);
		sharing(&page, &knees->share);
	}
	if ((knees->one.estimates && knees->one.slow) || (knees->two.estimates && knees->two.slow))
		page_line(&page, TONE_DIM, "A burst is taken to last as long as a link of %s needs for it.",
			  spec->sender_rate ? "--sender_rate" : "--link_rate");
}
