/* A plan for people: its tests, what it takes, its hosts and connections, as far as they fit on a page. */
#include "report/plan.h"

#include "base/units.h"
#include "report/page.h"

#include <stdlib.h>
#include <string.h>

#define HOSTS_SHOWN       64
#define CONNECTIONS_SHOWN 64
#define NAME_WIDTH        48 /* most columns of a name in a table */

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void course(const struct page *page, const struct spec *spec)
{
	char window[UNITS_TEXT + 32], warmup[UNITS_TEXT], margin[UNITS_TEXT];

	if (spec->burst_count)
		snprintf(window, sizeof(window), "%llu bursts", (unsigned long long)spec->burst_count);
	else if (spec->iterations)
		snprintf(window, sizeof(window), "%llu iterations", (unsigned long long)spec->iterations);
	else
		units_format_time(spec->duration_ns, window);
	if (spec->warmup_iterations)
		snprintf(warmup, sizeof(warmup), "%llu iterations", (unsigned long long)spec->warmup_iterations);
	else
		units_format_time(spec->warmup_ns, warmup);
	page_condition(page, "Course", "%s%s%s%s%s", window,
		       spec->warmup_ns || spec->warmup_iterations ? ", after a warm-up of " : ", no warm-up",
		       spec->warmup_ns || spec->warmup_iterations ? warmup : "",
		       spec->end_margin_ns ? ", end margin " : "",
		       spec->end_margin_ns ? units_format_time(spec->end_margin_ns, margin) : "");
}

/* The sizes of the sweep, or the one size. */
static void traffic(const struct page *page, const struct plan_test *test)
{
	const struct spec *const spec = &test->sweep.spec[0];
	char points[32] = "";

	if (test->sweep.count > 1 && !test->role)
		snprintf(points, sizeof(points), ", %u points", test->sweep.count);
	page_condition(page, "Traffic", "%s %s, %s, %s%llu bytes a message%s, driver %s",
		       transport_name(spec->transport), spec_has_list(spec) ? "operations" : verb_name(spec->verb),
		       spec->metric == METRIC_BW ? "bandwidth" : "latency", test->bytes ? "up to " : "",
		       (unsigned long long)spec->size, points, driver_kind_name(spec->driver));
	page_condition(page, "Queue pairs", "%llu for each of %llu worker%s and connection",
		       (unsigned long long)spec->qps, (unsigned long long)spec->workers, plural(spec->workers));
}

/* How the messages come, where they come in bursts. */
static void bursts(const struct page *page, const struct spec *spec)
{
	char a[UNITS_TEXT], b[UNITS_TEXT], c[UNITS_TEXT];

	switch (spec->burst_profile) {
	case BURST_TRAINING:
		page_condition(page, "Bursts", "training: on for %s, off for %s to %s",
			       units_format_time(spec->burst_ns, a), units_format_time(spec->pause_min_ns, b),
			       units_format_time(spec->pause_max_ns, c));
		break;
	case BURST_STORAGE:
		page_condition(page, "Bursts",
			       "storage: %llu messages at a time, %s bit/s of each queue pair on average",
			       (unsigned long long)spec->burst_size, units_format_rate(spec->rate_limit, a));
		break;
	case BURST_SYNC:
		page_condition(page, "Bursts", "sync_burst: %llu messages of each queue pair, every %s",
			       (unsigned long long)spec->burst_size, units_format_time(spec_burst_period_ns(spec), a));
		break;
	default:
		break;
	}
}

/* Who takes part, and when. */
static void parts(const struct page *page, const struct plan_test *test)
{
	if (test->role)
		page_condition(page, "Role", "%s",
			       test->role == ROLE_VICTIM ? "victim: runs in all phases"
							 : "aggressor: runs in phase 2 only");
	page_condition(page, "Connections", "%llu between %u endpoints%s", (unsigned long long)test->connections,
		       test->positions, test->direction == DIRECTION_BIDIR ? ", each in both directions" : "");
	if (test->peer_shifting)
		page_condition(page, "Rounds", "%u, one after another: in round p endpoint i sends to i + p",
			       test->rounds);
	if (test->iteration_sync)
		page_condition(page, "In step", "everybody waits for everybody behind each iteration");
}

static void test_block(const struct page *page, const struct plan_test *test, uint32_t number)
{
	page_blank(page);
	page_line(page, TONE_HEADING, "Test %u%s%s%s: %s, %s%s%s", number, *test->name ? ", \"" : "", test->name,
		  *test->name ? "\"" : "", pattern_name(test->pattern), direction_name(test->direction),
		  test->partition ? ", " : "", test->partition ? partition_name(test->partition) : "");
	parts(page, test);
	traffic(page, test);
	bursts(page, &test->sweep.spec[0]);
	if (test->sweep.count > 1 && !test->role && spec_bursts(&test->sweep.spec[0]))
		page_condition(page, "Predicted", "the first of %u points", test->sweep.count);
	course(page, &test->sweep.spec[0]);
}

static void totals_block(const struct page *page, const struct plan *plan, const struct plan_totals *totals)
{
	char text[UNITS_TEXT];

	page_blank(page);
	page_line(page, TONE_HEADING, "Totals");
	page_condition(page, "Connections", "%llu, %llu directed", (unsigned long long)plan->connections,
		       (unsigned long long)totals->flows);
	page_condition(page, "Queue pairs", "%llu, at most %llu on a host", (unsigned long long)totals->qps,
		       (unsigned long long)totals->most_qps);
	page_condition(page, "Memory", "%s MiB at most on a host",
		       units_format_figure((double)totals->memory / (1 << 20), text));
	page_condition(page, "Rounds", "%u", plan->rounds);
	if (plan_has_roles(plan))
		page_condition(page, "Phases", "%u, one after another: isolated, loaded, isolated", IMPACT_PHASES);
	if (totals->seconds < 0)
		page_condition(page, "Expected time", "not known: a test ends by count");
	else
		page_condition(page, "Expected time", "%s s and the set-up",
			       units_format_figure(totals->seconds, text));
}

/* Columns for the longest name, within reason. */
static int width_of_hosts(const struct plan *plan)
{
	size_t width = 4;

	for (uint32_t h = 0; h < plan->hosts && h < HOSTS_SHOWN; h++)
		if (strlen(plan->host[h].name) > width)
			width = strlen(plan->host[h].name);
	return width < NAME_WIDTH ? (int)width : NAME_WIDTH;
}

static void hosts_block(const struct page *page, const struct plan *plan, const struct plan_totals *totals)
{
	const int width = width_of_hosts(plan);

	page_blank(page);
	page_line(page, TONE_HEADING, "  rank  %-*s  endpoints  connections  queue pairs        MiB", width, "host");
	for (uint32_t h = 0; h < plan->hosts && h < HOSTS_SHOWN; h++) {
		const struct host_totals *const host = &totals->host[h];
		char text[UNITS_TEXT];

		page_line(page, TONE_PLAIN, "%6u  %-*s  %9u  %11llu  %11llu  %9s", h, width, plan->host[h].name,
			  plan->host[h].endpoints, (unsigned long long)host->connections, (unsigned long long)host->qps,
			  units_format_figure((double)host->memory / (1 << 20), text));
	}
	if (plan->hosts > HOSTS_SHOWN)
		page_line(page, TONE_DIM, "  and %u more: --json lists all", plan->hosts - HOSTS_SHOWN);
}

static void connection_row(const struct page *page, const struct plan *plan, const struct connection *one,
			   unsigned number)
{
	char from[PLAN_LABEL], to[PLAN_LABEL], round[24] = "";

	if (plan->rounds > 1)
		snprintf(round, sizeof(round), "  round %-4u", one->round);
	page_line(page, TONE_PLAIN, "%6u  test %-3u%s  %s %s %s", number, one->test + 1, round,
		  plan_label(plan, one->from, from), one->both ? "<->" : "->", plan_label(plan, one->to, to));
}

static void connections_block(const struct page *page, const struct plan *plan)
{
	struct plan_cursor cursor;
	struct connection one;
	unsigned number = 0;

	page_blank(page);
	page_line(page, TONE_HEADING, "Connections");
	plan_begin(&cursor, plan, PLAN_ALL_HOSTS);
	while (number < CONNECTIONS_SHOWN && plan_next(&cursor, &one))
		connection_row(page, plan, &one, number++);
	if (plan->connections > number)
		page_line(page, TONE_DIM, "  and %llu more: --json lists all",
			  (unsigned long long)(plan->connections - number));
}

void report_plan(FILE *to, const struct report_plan *report)
{
	const struct plan *const plan = report->plan;
	struct page page;

	page_init(&page, to);
	page_line(&page, TONE_HEADING, "Plan: %u test%s, %u host%s, %u endpoint%s, %llu connection%s", plan->tests,
		  plural(plan->tests), plan->hosts, plural(plan->hosts), plan->endpoints, plural(plan->endpoints),
		  (unsigned long long)plan->connections, plural(plan->connections));
	for (uint32_t i = 0; i < plan->tests; i++) {
		test_block(&page, &plan->test[i], i + 1);
		if (plan->test[i].bytes) {
			page_blank(&page);
			report_sizes(to, plan, i);
		}
	}
	totals_block(&page, plan, report->totals);
	if (report->prediction->there) {
		page_blank(&page);
		report_predict(to, report->prediction);
	}
	hosts_block(&page, plan, report->totals);
	if (!report->summary)
		connections_block(&page, plan);
}
