/* Rates, windows, steadiness and loss: every figure but latency, computed once from the counts of all workers. */
#include "spec/result.h"

#include "base/hist.h"
#include "spec/span.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEADY_SECONDS   0.99
#define STEADY_MESSAGES  10000
#define STEADY_INTERVALS 10

void result_init(struct result *result, const struct request *request, uint32_t ranks)
{
	memset(result, 0, sizeof(*result));
	result->request = *request;
	result->status = RUN_OK;
	result->rank = ranks ? calloc(ranks, sizeof(*result->rank)) : NULL;
	result->ranks = result->rank ? ranks : 0;
	for (uint32_t i = 0; i < result->ranks; i++)
		result->rank[i].clock_error_ns = -1;
}

void result_release(struct result *result)
{
	if (!result)
		return;
	for (uint32_t i = 0; i < result->ranks; i++)
		rank_result_release(&result->rank[i]);
	free(result->rank);
	result->rank = NULL;
	result->ranks = 0;
}

int rank_result_alloc(struct rank_result *rank, uint32_t workers, bool hists)
{
	rank->worker = calloc(workers, sizeof(*rank->worker));
	if (!rank->worker)
		return -ENOMEM;
	rank->workers = workers;
	for (uint32_t i = 0; i < workers; i++) {
		struct worker_result *worker = &rank->worker[i];

		worker->numa = -1;
		worker->gpu = -1;
		worker->hist = hists ? malloc(sizeof(*worker->hist)) : NULL;
		if (worker->hist)
			hist_init(worker->hist);
		else if (hists)
			goto fail;
	}
	return 0;
fail:
	rank_result_release(rank);
	return -ENOMEM;
}

int rank_result_alloc_qps(struct rank_result *rank, uint32_t qps)
{
	for (uint32_t i = 0; i < rank->workers; i++) {
		rank->worker[i].qp = calloc(qps, sizeof(struct qp_count));
		if (!rank->worker[i].qp)
			return -ENOMEM;
		rank->worker[i].qp_count = qps;
	}
	return 0;
}

void rank_result_release(struct rank_result *rank)
{
	if (!rank)
		return;
	for (uint32_t i = 0; i < rank->workers; i++) {
		free(rank->worker[i].qp);
		free(rank->worker[i].hist);
		free(rank->worker[i].bursts);
		free(rank->worker[i].arrivals);
	}
	free(rank->worker);
	free(rank->invalid);
	port_counters_release(&rank->counters);
	rank->worker = NULL;
	rank->invalid = NULL;
	rank->workers = rank->invalids = 0;
}

static const struct rank_result *rank_by_role(const struct result *result, bool active)
{
	for (uint32_t i = 0; i < result->ranks; i++)
		if (result->rank[i].active == active)
			return &result->rank[i];
	return NULL;
}

const struct rank_result *result_sender(const struct result *result)
{
	return rank_by_role(result, true);
}

const struct rank_result *result_receiver(const struct result *result)
{
	return rank_by_role(result, false);
}

const struct rank_result *result_authority(const struct result *result)
{
	const struct rank_result *sender = result_sender(result), *receiver = result_receiver(result);
	struct window window;

	if (result->request.spec.metric == METRIC_LAT || (sender && sender->delivery))
		return sender;
	if (receiver && receiver->counts_received && rank_window(result, receiver, &window))
		return receiver;
	return sender;
}

bool worker_has_window(const struct worker_result *worker)
{
	return worker->end_ns > worker->begin_ns;
}

double worker_seconds(const struct worker_result *worker)
{
	return (double)(worker->timed_ns ? worker->timed_ns : worker->end_ns - worker->begin_ns) / 1e9;
}

/*
 * Messages that the edges may have cut. A sender knows what was outstanding; a stream, and the side where messages
 * arrive, count whole messages, of which each edge cuts at most one a QP, and none when the test ends by count.
 */
static uint64_t cut(const struct spec *spec, const struct rank_result *rank, const struct worker_result *worker)
{
	if (rank->active && spec->transport != TRANSPORT_TCP)
		return worker->edge_begin + worker->edge_end;
	return spec_quota(spec) ? 0 : 2 * worker->qps;
}

static double edge_error(const struct spec *spec, const struct rank_result *rank, uint64_t cuts, uint64_t messages)
{
	const bool known = spec->metric == METRIC_BW && messages && (rank->active || rank->counts_received);

	return known ? (double)cuts / (double)messages : (double)NAN;
}

bool rank_window(const struct result *result, const struct rank_result *rank, struct window *ret)
{
	const struct spec *spec = &result->request.spec;
	struct span begin = SPAN_NONE, end = begin;
	uint64_t cuts = 0, messages = 0;
	int64_t bracket = 0;
	double seconds = 0;
	unsigned windows = 0;

	for (uint32_t i = 0; rank && i < rank->workers; i++) {
		const struct worker_result *worker = &rank->worker[i];

		if (!worker_has_window(worker))
			continue;
		windows++;
		seconds += worker_seconds(worker);
		span_add(&begin, worker->begin_ns);
		span_add(&end, worker->end_ns);
		cuts += cut(spec, rank, worker);
		messages += worker_counted(rank, worker);
		bracket = worker->edge_error_ns > bracket ? worker->edge_error_ns : bracket;
	}
	if (!windows)
		return false;
	ret->begin_skew = (double)span_length(&begin) / 1e9;
	ret->end_skew = (double)span_length(&end) / 1e9;
	ret->edge_error = edge_error(spec, rank, cuts, messages);
	ret->edge_bracket = (double)bracket / 1e9;
	ret->seconds = seconds / windows;
	ret->begin_ns = begin.least - rank->clock_offset_ns;
	ret->end_ns = end.most - rank->clock_offset_ns - rank->clock_gain_ns;
	return true;
}

bool rank_cpu(const struct rank_result *rank, struct cpu_time *ret)
{
	double user = 0, system = 0, seconds = 0;

	for (uint32_t i = 0; rank && i < rank->workers; i++) {
		const struct worker_result *worker = &rank->worker[i];

		if (!worker_has_window(worker))
			continue;
		if (worker->cpu_user_ns < 0)
			return false;
		user += (double)worker->cpu_user_ns / 1e9;
		system += (double)worker->cpu_system_ns / 1e9;
		seconds += worker_seconds(worker);
	}
	if (seconds <= 0)
		return false;
	*ret = (struct cpu_time){ .user = user, .system = system, .percent = 100 * (user + system) / seconds };
	return true;
}

/* The coarsest interval length among the workers, of which all others must be whole parts; 0 when there is none. */
static int64_t common_interval(const struct rank_result *rank)
{
	int64_t longest = 0;

	for (uint32_t i = 0; rank && i < rank->workers; i++)
		longest = rank->worker[i].interval_ns > longest ? rank->worker[i].interval_ns : longest;
	for (uint32_t i = 0; longest && i < rank->workers; i++)
		if (rank->worker[i].interval_ns <= 0 || longest % rank->worker[i].interval_ns ||
		    longest / rank->worker[i].interval_ns > RESULT_INTERVALS)
			return 0;
	return longest;
}

/* A worker that ran by quota may have widened its intervals more often than another: finer ones are summed. */
static unsigned whole_intervals(const struct worker_result *worker, int64_t interval_ns)
{
	return worker->intervals / (unsigned)(interval_ns / worker->interval_ns);
}

static uint64_t interval_messages(const struct rank_result *rank, uint32_t index, int64_t interval_ns, unsigned at)
{
	const struct worker_result *worker = &rank->worker[index];
	const bool received = worker->both_ways && !rank->active;
	const uint64_t *series = received ? worker->interval_received : worker->interval_msgs;
	const unsigned fold = (unsigned)(interval_ns / worker->interval_ns);
	uint64_t messages = 0;

	for (unsigned i = at * fold; i < (at + 1) * fold; i++)
		messages += series[i];
	return messages;
}

unsigned rank_intervals(const struct result *result, const struct rank_result *rank, double gbps[RESULT_INTERVALS],
			double *interval_seconds)
{
	const int64_t interval_ns = common_interval(rank);
	const struct spec *const spec = &result->request.spec;
	const double bits = spec_has_list(spec) ? 8 : (double)spec->size * 8;
	unsigned intervals = RESULT_INTERVALS;

	if (!interval_ns)
		return 0;
	for (uint32_t i = 0; i < rank->workers; i++) {
		const unsigned whole = whole_intervals(&rank->worker[i], interval_ns);

		intervals = whole < intervals ? whole : intervals;
	}
	for (unsigned at = 0; at < intervals; at++) {
		uint64_t messages = 0;

		for (uint32_t i = 0; i < rank->workers; i++)
			messages += interval_messages(rank, i, interval_ns, at);
		gbps[at] = (double)messages * bits / (double)interval_ns;
	}
	*interval_seconds = (double)interval_ns / 1e9;
	return intervals;
}

double rate_mpps_of_gbps(const struct spec *spec)
{
	return 125.0 / (double)(spec->size ? spec->size : 1);
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

bool rank_steadiness(const struct result *result, const struct rank_result *rank, struct steadiness *ret)
{
	double gbps[RESULT_INTERVALS], seconds;
	const unsigned n = rank_intervals(result, rank, gbps, &seconds);

	if (n < STEADY_INTERVALS)
		return false;
	qsort(gbps, n, sizeof(gbps[0]), compare_doubles);
	*ret = (struct steadiness){
		.min = gbps[0],
		.p1 = gbps[(n + 99) / 100 - 1],
		.median = gbps[(n + 1) / 2 - 1],
		.max = gbps[n - 1],
		.interval_seconds = seconds,
		.intervals = n,
	};
	return true;
}

bool result_is_steady(const struct result *result)
{
	const struct rate rate = rank_rate(result, result_authority(result));
	struct latency latency;
	uint64_t messages = rate.messages;

	if (result->request.spec.metric == METRIC_LAT)
		messages = result_latency(result, &latency) ? latency.samples : 0;
	return rate.seconds >= STEADY_SECONDS && messages >= STEADY_MESSAGES;
}

/* Adds what the receiver's sequence numbers say; false when one of its workers has none. */
static bool add_sequences(const struct rank_result *receiver, struct loss *loss)
{
	for (uint32_t i = 0; i < receiver->workers; i++) {
		if (!receiver->worker[i].has_loss)
			return false;
		loss->duplicated += receiver->worker[i].duplicated;
		loss->reordered += receiver->worker[i].reordered;
	}
	return receiver->workers > 0;
}

bool result_loss(const struct result *result, struct loss *ret)
{
	const struct rank_result *sender = result_sender(result), *receiver = result_receiver(result);
	struct loss loss = { 0 };

	if (!sender || !receiver || !receiver->counts_received)
		return false;
	for (uint32_t i = 0; i < sender->workers; i++)
		loss.sent += sender->worker[i].total_sent;
	for (uint32_t i = 0; i < receiver->workers; i++)
		loss.received += receiver->worker[i].total_received;
	loss.lost = loss.sent > loss.received ? loss.sent - loss.received : 0;
	loss.sequenced = add_sequences(receiver, &loss);
	if (!loss.sequenced)
		loss.duplicated = loss.reordered = 0;
	*ret = loss;
	return true;
}

int result_bw_threshold(const struct result *result)
{
	const struct spec *spec = &result->request.spec;

	if (spec->bw_threshold <= 0 || spec->metric != METRIC_BW || result->direction)
		return 0;
	if (!result->measured)
		return -1;
	return result_rate(result).gbps >= spec->bw_threshold ? 1 : -1;
}

int result_lat_threshold(const struct result *result)
{
	const struct spec *spec = &result->request.spec;
	struct latency latency;

	if (spec->lat_threshold <= 0 || spec->metric != METRIC_LAT)
		return 0;
	if (!result->measured || !result_latency(result, &latency))
		return -1;
	return latency.median <= spec->lat_threshold ? 1 : -1;
}
