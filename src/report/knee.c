/* Where loss begins, for people: the curve of what was lost of bursts of each size, the knee and the buffer behind it. */
#include "report/knee.h"

#include "base/units.h"
#include "report/page.h"
#include "spec/spec.h"

#include <math.h>
#include <string.h>

#define CELLS 40 /* of a bar, which is 100 % */
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

	memset(bar, '#', (size_t)ceil(CELLS * fmin(share, 1)));
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

void report_knee(FILE *to, const struct knee *knee, const struct plan *plan)
{
	const struct spec *const spec = &plan->test[0].sweep.spec[0];
	struct page page;

	page_init(&page, to);
	page_line(&page, TONE_HEADING, "Knee: %s of %.0f connections, %s %s, %llu bytes",
		  burst_name(spec->burst_profile), knee->connections, transport_name(spec->transport),
		  verb_name(spec->verb), (unsigned long long)spec->size);
	page_line(&page, TONE_PLAIN, "  %8s %10s %10s %8s %8s %8s", "messages", "kB of all", "sent", "lost", "lost %",
		  "model %");
	for (uint32_t i = 0; i < knee->points; i++)
		row(&page, knee, &knee->point[i]);
	page_blank(&page);
	begins(&page, knee);
	buffer(&page, knee);
	if (knee->estimates && knee->slow)
		page_line(&page, TONE_DIM, "A burst is taken to last as long as a link of %s needs for it.",
			  spec->sender_rate ? "--sender_rate" : "--link_rate");
}
