/* Sums of connections' figures by endpoint and by process, by host, and by pair; the lowest and the highest figures. */
#include "plan/outcome.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_latency(const struct outcome *outcome, uint32_t test)
{
	return outcome->plan->test[test].sweep.spec[0].metric == METRIC_LAT;
}

static uint32_t most_workers(const struct plan *plan)
{
	uint64_t most = 1;

	for (uint32_t i = 0; i < plan->tests; i++) {
		const uint64_t workers = plan->test[i].sweep.spec[0].workers;

		most = workers > most ? workers : most;
	}
	return (uint32_t)most;
}

int outcome_make_sums(struct outcome *outcome, struct error *err)
{
	const struct plan *plan = outcome->plan;
	const size_t endpoints = (size_t)plan_points(plan) * plan->tests * plan->endpoints;
	bool both = false;

	for (uint32_t i = 0; i < plan->tests; i++)
		both |= plan->test[i].direction == DIRECTION_BIDIR;
	outcome->processes = most_workers(plan);
	outcome->device = calloc(endpoints, 2 * sizeof(*outcome->device));
	outcome->process = calloc(endpoints * outcome->processes, 2 * sizeof(*outcome->process));
	if (both)
		outcome->way = calloc(plan_points(plan) * plan->connections, 2 * sizeof(*outcome->way));
	return outcome->device && outcome->process && (outcome->way || !both)
		       ? 0
		       : error_set(err, -ENOMEM, "no memory for the sums of %u endpoints", plan->endpoints);
}

void outcome_drop_sums(struct outcome *outcome)
{
	free(outcome->device);
	free(outcome->process);
	free(outcome->way);
}

static size_t row_of(const struct outcome *outcome, unsigned point, uint32_t test, uint32_t endpoint)
{
	return ((size_t)point * outcome->plan->tests + test) * outcome->plan->endpoints + endpoint;
}

const struct outcome_sum *outcome_device(const struct outcome *outcome, unsigned point, uint32_t test,
					 uint32_t endpoint)
{
	return &outcome->device[2 * row_of(outcome, point, test, endpoint)];
}

const struct outcome_sum *outcome_process(const struct outcome *outcome, unsigned point, uint32_t test,
					  uint32_t endpoint, uint32_t process)
{
	return &outcome->process[2 * (row_of(outcome, point, test, endpoint) * outcome->processes + process)];
}

static void add(struct outcome_sum *sum, double figure)
{
	sum->connections++;
	if (isnan(figure))
		return;
	sum->good++;
	sum->figure += figure;
}

/* One direction of a connection: its figure, or that of one of its workers alone. */
static double figure_of(const struct result *way, uint32_t worker, bool alone)
{
	const struct rank_result *rank = result_authority(way);
	struct rank_result one;
	struct latency latency;

	if (way->status == RUN_FAILED || !rank || (alone && worker >= rank->workers))
		return (double)NAN;
	one = *rank;
	if (alone) {
		one.worker = &rank->worker[worker];
		one.workers = 1;
	}
	if (way->request.spec.metric == METRIC_BW)
		return rank_rate(way, &one).gbps;
	if (alone ? worker_latency(&way->request.spec, one.worker, &latency) : result_latency(way, &latency))
		return latency.median;
	return (double)NAN;
}

/* Whose workers have the same numbers at both ends. */
static void add_way(struct outcome *outcome, unsigned point, uint32_t test, const uint32_t end[2],
		    const struct result *way)
{
	const uint32_t workers = (uint32_t)outcome->plan->test[test].sweep.spec[point].workers;

	for (unsigned i = 0; i < 2; i++) {
		const size_t row = row_of(outcome, point, test, end[i]);

		add(&outcome->device[2 * row + i], figure_of(way, 0, false));
		for (uint32_t k = 0; k < workers; k++)
			add(&outcome->process[2 * (row * outcome->processes + k) + i], figure_of(way, k, true));
	}
}

void outcome_add_sums(struct outcome *outcome, const struct connection *c, unsigned point, uint64_t number,
		      const struct result *result)
{
	for (unsigned i = 0; i < result_directions(result); i++) {
		const uint32_t end[] = { i ? c->to : c->from, i ? c->from : c->to };
		struct direction way;

		result_direction(result, i, &way);
		add_way(outcome, point, c->test, end, &way.result);
		if (outcome->way)
			outcome->way[2 * number + i] = figure_of(&way.result, 0, false);
	}
}

static void end(struct outcome_sum *sum, double divisor)
{
	sum->figure = sum->good && divisor > 0 ? sum->figure / divisor : (double)NAN;
}

void outcome_end_sums(struct outcome *outcome, unsigned point, uint32_t test, uint64_t rounds)
{
	const struct plan *plan = outcome->plan;
	const bool latency = is_latency(outcome, test),
		   no_sum = plan->test[test].iteration_sync && plan->test[test].bytes;
	struct outcome_sum *device = &outcome->device[2 * row_of(outcome, point, test, 0)];
	struct outcome_sum *process = &outcome->process[2 * row_of(outcome, point, test, 0) * outcome->processes];
	const size_t devices = 2 * (size_t)plan->endpoints;
	const double divisor = no_sum ? 0 : (double)rounds;

	for (size_t i = 0; i < devices; i++)
		end(&device[i], latency ? (double)device[i].good : divisor);
	for (size_t i = 0; i < devices * outcome->processes; i++)
		end(&process[i], latency ? (double)process[i].good : divisor);
}

int outcome_hosts(const struct outcome *outcome, unsigned point, uint32_t test, struct outcome_sum **ret)
{
	const struct plan *plan = outcome->plan;
	const bool latency = is_latency(outcome, test);
	struct outcome_sum *host = calloc(plan->hosts, 2 * sizeof(*host));

	for (size_t i = 0; host && i < 2 * (size_t)plan->endpoints; i++) {
		const struct outcome_sum *device = outcome_device(outcome, point, test, 0) + i;
		struct outcome_sum *sum = &host[2 * plan->endpoint[i / 2].host + i % 2];

		sum->connections += device->connections;
		sum->good += device->good;
		if (!isnan(device->figure))
			sum->figure += device->figure * (latency ? (double)device->good : 1);
		else if (device->good)
			sum->figure = (double)NAN; /* in step, with sizes of each pair */
	}
	for (size_t i = 0; host && i < 2 * (size_t)plan->hosts; i++)
		end(&host[i], latency ? (double)host[i].good : 1);
	*ret = host;
	return host ? 0 : -ENOMEM;
}

unsigned outcome_extremes(const struct outcome *outcome, unsigned point, uint32_t test, bool highest,
			  struct outcome_extreme ret[OUTCOME_EXTREMES])
{
	const double *figure = &outcome->figure[point * outcome->plan->connections];
	struct plan_cursor cursor;
	struct connection c;
	unsigned count = 0;

	plan_begin(&cursor, outcome->plan, PLAN_ALL_HOSTS);
	for (; plan_next(&cursor, &c); figure++) {
		unsigned at = count;

		if (c.test != test || isnan(*figure))
			continue;
		while (at && (highest ? *figure > ret[at - 1].figure : *figure < ret[at - 1].figure))
			at--;
		if (at == OUTCOME_EXTREMES)
			continue;
		count += count < OUTCOME_EXTREMES;
		memmove(&ret[at + 1], &ret[at], (count - 1 - at) * sizeof(*ret));
		ret[at] = (struct outcome_extreme){ .c = c, .figure = *figure };
	}
	return count;
}

/* A connection of a pair, whose other one has its ends the other way round. */
struct half {
	uint64_t pair; /* the same of both */
	double figure;
	struct connection c;
};

static int by_pair(const void *a, const void *b)
{
	const struct half *x = a, *y = b;

	return x->pair == y->pair ? (x->c.from > y->c.from) - (x->c.from < y->c.from) : x->pair < y->pair ? -1 : 1;
}

static void add_pair(struct outcome_pairs *pairs, const struct connection *c, double figure)
{
	if (isnan(figure))
		return;
	if (!pairs->pairs || figure < pairs->min) {
		pairs->min = figure;
		pairs->lowest = *c;
	}
	if (!pairs->pairs || figure > pairs->max) {
		pairs->max = figure;
		pairs->highest = *c;
	}
	pairs->mean += (figure - pairs->mean) / (double)++pairs->pairs;
}

static size_t list_halves(const struct outcome *outcome, unsigned point, uint32_t test, struct half *ret)
{
	const double *figure = &outcome->figure[point * outcome->plan->connections];
	struct plan_cursor cursor;
	struct connection c;
	size_t count = 0;

	plan_begin(&cursor, outcome->plan, PLAN_ALL_HOSTS);
	for (; plan_next(&cursor, &c); figure++) {
		const uint64_t low = c.from < c.to ? c.from : c.to, high = c.from < c.to ? c.to : c.from;

		if (c.test == test)
			ret[count++] = (struct half){ .pair = low << 32 | high, .figure = *figure, .c = c };
	}
	return count;
}

int outcome_pairs(const struct outcome *outcome, unsigned point, uint32_t test, struct outcome_pairs *ret)
{
	const struct plan_test *planned = &outcome->plan->test[test];
	struct half *half = NULL;
	size_t count;

	*ret = (struct outcome_pairs){ 0 };
	if (planned->direction == DIRECTION_UNIDIR || is_latency(outcome, test))
		return 0;
	half = calloc(planned->connections + 1, sizeof(*half));
	if (!half)
		return -ENOMEM;
	count = list_halves(outcome, point, test, half);
	qsort(half, count, sizeof(*half), by_pair);
	for (size_t i = 0; i < count; i++) {
		if (half[i].c.both)
			add_pair(ret, &half[i].c, half[i].figure);
		else if (i + 1 < count && half[i + 1].pair == half[i].pair)
			add_pair(ret, &half[i].c, half[i].figure + half[i + 1].figure);
	}
	free(half);
	return 0;
}
