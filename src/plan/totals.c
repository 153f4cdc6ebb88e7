/* Adds up what a plan asks of its hosts. */
#include "plan/totals.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>

/* What one end of any connection of a test needs. */
struct end {
	uint64_t qps, memory;
};

/* Points share their set-up or follow one another: the largest counts. */
static struct end end_of(const struct plan_test *test, uint64_t (*memory_of)(const struct spec *spec))
{
	struct end end = { 0 };

	for (unsigned i = 0; i < test->sweep.count; i++) {
		struct spec spec = test->sweep.spec[i];
		const uint64_t qps = spec.workers * spec.qps * (spec.transport == TRANSPORT_XRC ? 2 : 1);
		uint64_t memory;

		spec.bidirectional = test->direction == DIRECTION_BIDIR;
		memory = memory_of(&spec);
		end.qps = qps > end.qps ? qps : end.qps;
		end.memory = memory > end.memory ? memory : end.memory;
	}
	return end;
}

/* Of one point; < 0: not known. */
static double seconds_of(const struct plan_test *test, unsigned point)
{
	const struct spec *const spec = &test->sweep.spec[point];
	double seconds = (double)(spec->warmup_ns + spec->end_margin_ns) / 1e9;

	if (spec->iterations || spec->warmup_iterations || (spec->burst_count && spec->burst_profile != BURST_SYNC))
		return -1;
	seconds += spec->burst_count ? (double)spec->burst_count * (double)spec_burst_period_ns(spec) / 1e9
				     : (double)spec->duration_ns / 1e9;
	return seconds * test->rounds;
}

static void add(struct host_totals *host, const struct end *end, bool counts)
{
	host->connections += counts;
	host->qps += end->qps;
	host->memory += end->memory;
}

/* side: queue pairs of one endpoint on one side of its connections. */
static void add_side(struct host_totals *host, uint64_t *side, const struct end *end)
{
	*side += end->qps;
	host->side_qps = *side > host->side_qps ? *side : host->side_qps;
}

/* side: two of each endpoint, 0. */
static void add_connections(const struct plan *plan, const struct end *ends, uint64_t (*side)[2],
			    struct plan_totals *totals)
{
	struct plan_cursor cursor;
	struct connection one;

	plan_begin(&cursor, plan, PLAN_ALL_HOSTS);
	while (plan_next(&cursor, &one)) {
		const uint32_t from = plan->endpoint[one.from].host, to = plan->endpoint[one.to].host;

		add(&totals->host[from], &ends[one.test], true);
		add(&totals->host[to], &ends[one.test], from != to);
		add_side(&totals->host[from], &side[one.from][0], &ends[one.test]);
		add_side(&totals->host[to], &side[one.to][1], &ends[one.test]);
		totals->flows += one.both ? 2 : 1;
		totals->qps += 2 * ends[one.test].qps;
	}
}

/* The longest of the tests that run together. */
static double longest(const struct plan *plan, unsigned point)
{
	double most = 0;

	for (uint32_t i = 0; i < plan->tests && most >= 0; i++) {
		const double seconds = plan_runs(plan, i, point) ? seconds_of(&plan->test[i], point) : 0;

		if (seconds < 0 || seconds > most)
			most = seconds;
	}
	return most;
}

static void add_time(const struct plan *plan, struct plan_totals *totals)
{
	for (unsigned point = 0; point < plan_points(plan); point++) {
		const double seconds = longest(plan, point);

		if (seconds < 0) {
			totals->seconds = -1;
			return;
		}
		totals->seconds += seconds;
	}
}

int plan_sum(const struct plan *plan, uint64_t (*memory_of)(const struct spec *spec), struct plan_totals *ret,
	     struct error *err)
{
	struct end *ends = calloc(plan->tests, sizeof(*ends));
	uint64_t(*side)[2] = calloc(plan->endpoints, sizeof(*side));

	*ret = (struct plan_totals){ .host = calloc(plan->hosts, sizeof(*ret->host)) };
	if (!ends || !side || !ret->host) {
		free(ends);
		free(side);
		plan_totals_release(ret);
		return error_set(err, -ENOMEM, "no memory for the totals of %u hosts", plan->hosts);
	}
	for (uint32_t i = 0; i < plan->tests; i++)
		ends[i] = end_of(&plan->test[i], memory_of);
	add_connections(plan, ends, side, ret);
	add_time(plan, ret);
	for (uint32_t h = 0; h < plan->hosts; h++) {
		ret->memory = ret->host[h].memory > ret->memory ? ret->host[h].memory : ret->memory;
		ret->most_qps = ret->host[h].qps > ret->most_qps ? ret->host[h].qps : ret->most_qps;
	}
	free(ends);
	free(side);
	return 0;
}

void plan_totals_release(struct plan_totals *totals)
{
	free(totals->host);
	totals->host = NULL;
}
