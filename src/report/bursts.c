/* Bursts for people: how many there were, how well they began together, how long they lasted, how they overlapped. */
#include "report/bursts.h"

#include "base/units.h"
#include "report/page.h"

#include <math.h>

/* "p95 1.2, p99 1.5, max 3.1" and more. */
static void spread(const struct page *page, const char *label, const struct burst_spread *s, const char *more)
{
	char p50[UNITS_TEXT], p95[UNITS_TEXT], p99[UNITS_TEXT], max[UNITS_TEXT], remark[8 * UNITS_TEXT];

	if (!s->count)
		return;
	snprintf(remark, sizeof(remark), "median; 95%%: %s, 99%%: %s, highest: %s%.120s",
		 units_format_figure(s->p95, p95), units_format_figure(s->p99, p99), units_format_figure(s->max, max),
		 more);
	page_text(page, label, units_format_figure(s->p50, p50), "usec", remark);
}

static void counts(const struct page *page, const struct burst_summary *b)
{
	char value[UNITS_TEXT], remark[4 * UNITS_TEXT];

	snprintf(value, sizeof(value), "%llu", (unsigned long long)b->bursts);
	snprintf(remark, sizeof(remark), "of %llu slots of %u sender%s; %llu late, %llu skipped, %llu without room",
		 (unsigned long long)b->slots, b->senders, b->senders == 1 ? "" : "s", (unsigned long long)b->late,
		 (unsigned long long)b->skipped, (unsigned long long)b->full);
	page_text(page, "Bursts", value, "bursts", remark);
}

/* What all senders did together. */
static void together(const struct page *page, const struct burst_summary *b)
{
	char value[UNITS_TEXT], bound[UNITS_TEXT], label[UNITS_TEXT], clock[2 * UNITS_TEXT + 32];

	if (b->senders < 2 || !b->compared)
		return;
	snprintf(clock, sizeof(clock), "; clocks +- %s, at most %s", units_format_figure(b->clock_u95_us, value),
		 units_format_figure(b->clock_us, bound));
	spread(page, "Start skew", &b->skew, clock);
	spread(page, "All senders at once", &b->overlap_all, "");
	snprintf(label, sizeof(label), "At least %u at once", b->half);
	spread(page, label, &b->overlap_half, "");
	snprintf(clock, sizeof(clock), "%% of the last %llu", (unsigned long long)b->compared);
	page_text(page, "Valid bursts", units_format_figure(100 * (double)b->valid / (double)b->compared, value), "%",
		  "all senders had them, none late");
}

static void completion(const struct page *page, const struct burst_summary *b)
{
	char ideal[UNITS_TEXT], times[UNITS_TEXT], remark[3 * UNITS_TEXT] = "";

	if (!isnan(b->slowdown))
		snprintf(remark, sizeof(remark), "; %s times the %s of the link",
			 units_format_figure(b->slowdown, times), units_format_figure(b->ideal_us, ideal));
	spread(page, "Completion of a burst", &b->completion, remark);
}

/* What the receivers saw of it, each by its own clock. */
static void arrivals(const struct page *page, const struct spec *spec, const struct burst_summary *b)
{
	const struct arrival_summary *a = &b->arrivals;
	char value[UNITS_TEXT], remark[4 * UNITS_TEXT] = "";

	if (!a->bursts)
		return;
	if (!isnan(a->slowdown))
		snprintf(remark, sizeof(remark), "; %s times the link's", units_format_figure(a->slowdown, value));
	spread(page, "Arrival of a burst", &a->span, remark);
	if (!spec->burst_size)
		return;
	snprintf(value, sizeof(value), "%llu", (unsigned long long)a->whole);
	snprintf(remark, sizeof(remark), "of %llu at %u receiver%s, each by its own clock",
		 (unsigned long long)a->bursts, a->receivers, a->receivers == 1 ? "" : "s");
	page_text(page, "Bursts that came whole", value, "bursts", remark);
}

/* The receiver's one clock beside the senders'. */
static void volley(const struct page *page, const struct burst_summary *b)
{
	const struct volley_summary *v = &b->volley;
	char value[UNITS_TEXT], posted[UNITS_TEXT], serial[UNITS_TEXT], remark[6 * UNITS_TEXT];

	if (v->senders < 2)
		return;
	snprintf(remark, sizeof(remark), "; posts by the senders' clocks: %s%s%s",
		 units_format_figure(v->posted.p50, posted), isnan(v->serial_us) ? "" : ", the link needs ",
		 isnan(v->serial_us) ? "" : units_format_figure(v->serial_us, serial));
	spread(page, "Volley at the receiver", &v->arrived, remark);
	page_text(page, "Clocks and paths differ by", units_format_figure(v->apart_us, value), "usec",
		  "of the quickest message of each sender, on the receiver's clock");
}

const char *paced_by(const struct burst_summary *b)
{
	return !b->by_device ? "program" : b->by_device == b->senders ? "device" : "both";
}

void block_bursts(const struct page *page, const struct spec *spec, const struct burst_summary *b)
{
	char value[UNITS_TEXT], low[UNITS_TEXT], remark[2 * UNITS_TEXT + 32];

	counts(page, b);
	spread(page, "Instant to doorbell", &b->lateness, "");
	together(page, b);
	spread(page, "Burst length", &b->length, "");
	if (!isnan(b->burst_gbps))
		page_figure(page, "Rate in a burst", b->burst_gbps, "Gbit/sec");
	completion(page, b);
	arrivals(page, spec, b);
	volley(page, b);
	if (b->gap.count) {
		snprintf(remark, sizeof(remark), "; 1%%: %s%s", units_format_figure(b->gap.p1, low),
			 b->by_device ? "; of completions" : "");
		spread(page, "From burst to burst", &b->gap, remark);
	}
	if (isnan(b->flow_gbps))
		return;
	snprintf(remark, sizeof(remark), "asked: %s, paced by %s%s",
		 units_format_figure((double)spec->rate_limit / 1e9, low),
		 b->by_device == b->senders || !b->by_device ? "the " : "", paced_by(b));
	page_text(page, "Rate of a queue pair", units_format_figure(b->flow_gbps, value), "Gbit/sec", remark);
}
