/* The report of a scenario for people: what each test came to, the matrix of its connections, and the ranks' clocks. */
#include "report/many.h"

#include "base/units.h"
#include "counters/counters.h"
#include "report/blocks.h"
#include "report/bursts.h"
#include "report/impact.h"
#include "report/judge.h"
#include "report/matrix.h"
#include "report/page.h"
#include "report/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *unit_of(const struct plan_test *test)
{
	return test->sweep.spec[0].metric == METRIC_LAT ? "usec" : "Gbit/sec";
}

/* What tells a point from the others. */
static void vary(const struct spec *spec, char *ret, size_t size)
{
	const int len = snprintf(ret, size, ", %llu QP%s, depth %llu", (unsigned long long)spec->qps,
				 spec->qps == 1 ? "" : "s", (unsigned long long)spec->tx_depth);

	if (spec->burst_size)
		snprintf(ret + len, size - (size_t)len, ", bursts of %llu", (unsigned long long)spec->burst_size);
}

static void title(const struct page *page, const struct outcome *outcome, unsigned point, uint32_t i)
{
	const struct plan_test *test = &outcome->plan->test[i];
	const struct spec *spec = &test->sweep.spec[point];
	char varied[104] = "", rounds[32] = "", operations[OPERATION_TEXT];
	struct request request = outcome->request;

	request.spec = *spec;
	operation_text(&request, spec_has_list(spec) ? " an iteration" : "", operations);
	if (test->bytes)
		snprintf(operations, sizeof(operations), "%s, up to %llu bytes", verb_name(spec->verb),
			 (unsigned long long)spec->size);
	if (test->role)
		snprintf(varied, sizeof(varied), ", %s", role_name(test->role));
	else if (test->sweep.count > 1)
		vary(spec, varied, sizeof(varied));
	if (test->peer_shifting)
		snprintf(rounds, sizeof(rounds), " in %u rounds", test->rounds);
	page_line(page, TONE_HEADING, "%s%s%s: %s %s, %s %s%s, %llu connections%s", test->name,
		  test->name[0] ? ": " : "", spec->metric == METRIC_LAT ? "Latency" : "Bandwidth",
		  pattern_name(test->pattern), direction_name(test->direction), transport_name(spec->transport),
		  operations, varied, (unsigned long long)test->connections, rounds);
}

static void extreme(const struct page *page, const struct outcome *outcome, const char *label, double figure,
		    const struct connection *c, const char *arrow)
{
	const char *unit = unit_of(&outcome->plan->test[c->test]);
	char from[PLAN_LABEL], to[PLAN_LABEL], value[UNITS_TEXT], remark[2 * PLAN_LABEL + 8];

	snprintf(remark, sizeof(remark), "%s %s %s", plan_label(outcome->plan, c->from, from), arrow,
		 plan_label(outcome->plan, c->to, to));
	page_text(page, label, units_format_figure(figure, value), unit, remark);
}

/* Iterations in step that have different sizes have no bandwidth in common. */
static void total(const struct page *page, const struct plan_test *planned, const struct outcome_test *test)
{
	if (planned->iteration_sync && planned->bytes)
		page_text(page, "Total BW", "n/a", "Gbit/sec", "sizes differ");
	else
		page_figure(page, planned->peer_shifting ? "Total BW of a round" : "Total BW", test->sum, "Gbit/sec");
	if (!test->steppers)
		return;
	page_figure(page, "Mean iteration", test->step_mean * 1e6, "usec");
	page_figure(page, "Longest iteration", test->step_max * 1e6, "usec");
}

/* Both directions of each pair together. */
static void pairs(const struct page *page, const struct outcome *outcome, unsigned point, uint32_t i)
{
	struct outcome_pairs pairs;

	if (outcome_pairs(outcome, point, i, &pairs) < 0)
		page_text(page, "Pairs", "not enough memory for them", "", "");
	if (!pairs.pairs)
		return;
	page_figure(page, "Mean of a pair", pairs.mean, "Gbit/sec");
	extreme(page, outcome, "Lowest pair", pairs.min, &pairs.lowest, "<->");
	extreme(page, outcome, "Highest pair", pairs.max, &pairs.highest, "<->");
}

/* A connection of both directions is a pair. */
static void connections(const struct page *page, const struct outcome *outcome, unsigned point, uint32_t i)
{
	const struct outcome_test *test = outcome_test(outcome, point, i);
	const struct plan_test *planned = &outcome->plan->test[i];
	const bool latency = planned->sweep.spec[0].metric == METRIC_LAT;

	if (planned->direction != DIRECTION_BIDIR || latency) {
		page_figure(page, latency ? "Mean of the medians" : "Mean of a connection", test->mean,
			    unit_of(planned));
		extreme(page, outcome, "Lowest", test->min, &test->lowest, "->");
		extreme(page, outcome, "Highest", test->max, &test->highest, "->");
	}
	pairs(page, outcome, point, i);
}

/* Of all senders of a test, and whether their devices paced as asked. */
static void bursts(const struct page *page, const struct spec *spec, const struct burst_summary *b)
{
	struct remark remark;

	block_bursts(page, spec, b);
	if (judge_pacing(spec, b, NULL, &remark))
		page_line(page, remark.serious ? TONE_BAD : TONE_PLAIN, "%s %s",
			  remark.serious ? "!" : "note:", remark.text);
}

static void summary(const struct page *page, const struct outcome *outcome, unsigned point, uint32_t i)
{
	const struct outcome_test *test = outcome_test(outcome, point, i);

	if (!isnan(test->mean)) {
		if (outcome->plan->test[i].sweep.spec[0].metric == METRIC_BW)
			total(page, &outcome->plan->test[i], test);
		connections(page, outcome, point, i);
	}
	if (test->counted) {
		char value[32], remark[64];

		snprintf(value, sizeof(value), "%llu", (unsigned long long)test->lost);
		snprintf(remark, sizeof(remark), "%llu sent = %llu received + lost", (unsigned long long)test->sent,
			 (unsigned long long)test->received);
		page_text(page, "Lost", value, "messages", remark);
	}
	if (test->has_bursts)
		bursts(page, &outcome->plan->test[i].sweep.spec[point], &test->bursts);
	if (test->failed)
		page_count(page, "Failed", test->failed, "connections");
	if (test->missed)
		page_count(page, "Threshold missed", test->missed, "connections");
}

/* Windows that lie apart by more than a hundredth of their length are not one. */
static void remark(const struct page *page, const struct outcome *outcome, const struct outcome_skew *skew)
{
	const struct spec *spec = &outcome->plan->test[0].sweep.spec[0];
	const double length = spec_quota(spec) ? 0 : (double)spec->duration_ns / 1e9;
	const double apart = skew->begin > skew->end ? skew->begin : skew->end;

	if (length > 0 && apart * 100 > length)
		page_line(page, TONE_BAD,
			  "! not in step: the windows lie up to %.4g s apart: a rank did not get its cores, or a clock "
			  "is wrong",
			  apart);
}

/* Pairs of ranks checked what rank 0 knows of the clocks. */
static void checked(const struct page *page, const struct closure *closure)
{
	if (closure->pairs)
		page_line(page, TONE_PLAIN,
			  "Clocks checked between %u pairs: off by %.4g us at most, %.4g us in the median",
			  closure->pairs, (double)closure->max_ns / 1e3, (double)closure->median_ns / 1e3);
	if (closure->outside)
		page_line(page, TONE_BAD, "! %u of them are off by more than the clocks' bounds: a clock jumps",
			  closure->outside);
}

static void windows(const struct page *page, const struct outcome *outcome)
{
	char begin[UNITS_TEXT], end[UNITS_TEXT];
	struct outcome_skew skew;

	if (!outcome_skew(outcome, &skew))
		return;
	remark(page, outcome, &skew);
	page_line(page, TONE_PLAIN,
		  "All windows began within %s us and ended within %s us (clocks +- %.4g us); set-up %.4g s, results "
		  "%.4g s",
		  units_format_figure(skew.begin * 1e6, begin), units_format_figure(skew.end * 1e6, end),
		  skew.clock_u95 * 1e6, outcome->setup_seconds, outcome->phase[PHASE_RESULTS]);
	checked(page, &outcome->closure);
}

static void ranks(const struct page *page, const struct outcome *outcome)
{
	windows(page, outcome);
	for (uint32_t i = 0; i < outcome->plan->hosts && outcome->plan->hosts <= MATRIX_MAX; i++) {
		const struct part_clock *clock = &outcome->clock[i];

		page_condition(page, outcome->plan->host[i].name, "%s%s, clock %+.6f ms +- %.4g us%s",
			       outcome->head[i].host, outcome->head[i].cores_shared ? ", cores shared" : "",
			       (double)clock->offset_ns[0] / 1e6, (double)clock->u95_ns[0] / 1e3,
			       i && clock->shared ? " (it is rank 0's)" : "");
	}
}

/* Those that failed, each with its reason, as far as they are told. */
static void failures(const struct page *page, const struct outcome *outcome, unsigned point, uint32_t test)
{
	for (uint32_t i = 0; i < outcome->failures; i++) {
		const struct outcome_failure *failure = &outcome->failure[i];
		char from[PLAN_LABEL], to[PLAN_LABEL];

		if (failure->point == point && failure->c.test == test)
			page_line(page, TONE_BAD, "  %s -> %s: %s", plan_label(outcome->plan, failure->c.from, from),
				  plan_label(outcome->plan, failure->c.to, to), failure->error.text);
	}
}

static void test(const struct page *page, const struct outcome *outcome, unsigned point, uint32_t i)
{
	title(page, outcome, point, i);
	if (!outcome_test(outcome, point, i)->connections)
		page_line(page, TONE_DIM, "did not run");
	else {
		summary(page, outcome, point, i);
		failures(page, outcome, point, i);
		if (!outcome->plan->test[i].no_matrix) {
			block_matrix(page, outcome, point, i);
			block_hosts(page, outcome, point, i);
		}
	}
	page_blank(page);
}

/* Beside what bursts did to a switch of which something was said, what they should have done. */
static void predicted(const struct page *page, const struct plan *plan)
{
	struct plan_prediction prediction;

	if (plan_predict(plan, false, &prediction, NULL) < 0 || !prediction.switch_named)
		return;
	report_predict(page->to, &prediction);
	page_blank(page);
}

static void say_moved(void *context, const char *id, const char *text)
{
	(void)id;
	page_line(context, TONE_PLAIN, "note: %s", text);
}

/* What the counters of all ranks' NICs tell. */
static void moved(const struct page *page, const struct outcome *outcome)
{
	struct counted *counted = calloc(outcome->plan->hosts, sizeof(*counted));

	for (uint32_t i = 0; counted && i < outcome->plan->hosts; i++)
		counted[i] = (struct counted){ outcome->plan->host[i].name, &outcome->counters[i] };
	if (counted)
		counters_tell(counted, outcome->plan->hosts, say_moved, (void *)(uintptr_t)page);
	free(counted);
}

static void tests(const struct page *page, const struct outcome *outcome, unsigned point)
{
	if (plan_has_roles(outcome->plan))
		page_line(page, TONE_HEADING, "Phase %u of %u, %s: %s", point + 1, IMPACT_PHASES,
			  impact_phase_name(point), point == IMPACT_LOADED ? "victims and aggressors" : "victims only");
	for (uint32_t i = 0; i < outcome->plan->tests; i++)
		if (plan_runs(outcome->plan, i, point))
			test(page, outcome, point, i);
}

void report_many(FILE *to, const struct outcome *outcome)
{
	struct page page;

	page_init(&page, to);
	for (unsigned point = 0; point < plan_points(outcome->plan); point++)
		tests(&page, outcome, point);
	if (plan_has_roles(outcome->plan))
		block_impact(&page, outcome);
	predicted(&page, outcome->plan);
	moved(&page, outcome);
	ranks(&page, outcome);
}
