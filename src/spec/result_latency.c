/* Latency figures from the histograms of all workers: moments, median and percentiles, halved where a round trip was timed. */
#include "spec/result.h"

#include "base/hist.h"

#include <math.h>

/* Read and atomics have no second half: what is timed is the completion. All others are a ping-pong unless asked otherwise. */
bool latency_is_ping_pong(const struct spec *spec)
{
	return spec->verb != VERB_READ && !verb_is_atomic(spec->verb) && spec->lat_mode == LAT_FULL_ROUND_TRIP;
}

bool latency_is_halved(const struct spec *spec)
{
	return latency_is_ping_pong(spec) && !spec_is_paced(spec);
}

/* Inserts p in ascending order unless it is there or there is no place. */
static void insert_percentile(double *list, unsigned *count, double p)
{
	unsigned at = 0;

	while (at < *count && list[at] < p)
		at++;
	if ((at < *count && list[at] <= p) || *count == RESULT_PERCENTILES)
		return;
	for (unsigned i = *count; i > at; i--)
		list[i] = list[i - 1];
	list[at] = p;
	++*count;
}

static unsigned wanted_percentiles(const struct spec *spec, double *ret)
{
	unsigned count = 0;

	insert_percentile(ret, &count, 99);
	insert_percentile(ret, &count, 99.9);
	for (unsigned i = 0; i < SPEC_MAX_PERCENTILES && spec->percentiles[i] > 0; i++)
		insert_percentile(ret, &count, spec->percentiles[i]);
	return count;
}

/* Samples above the nearest rank of p, below it for p < 50. */
static uint64_t samples_beyond(uint64_t count, double p)
{
	const uint64_t rank = (uint64_t)ceill((long double)count * (long double)p / 100 - 1e-9L);

	return p < 50 ? (rank ? rank - 1 : 0) : count - (rank < count ? rank : count);
}

bool latency_of(const struct spec *spec, const struct hist *hist, struct latency *ret)
{
	const bool halved = latency_is_halved(spec);
	const double us = halved ? 1 / 2000.0 : 1 / 1000.0; /* reported us in one measured ns */
	double wanted[RESULT_PERCENTILES] = { 0 };

	if (!hist->count)
		return false;
	*ret = (struct latency){
		.halved = halved,
		.samples = hist->count,
		.min = (double)hist->min * us,
		.max = (double)hist->max * us,
		.mean = hist_mean(hist) * us,
		.median = (double)hist_percentile(hist, 50) * us,
		.stddev = hist_stddev(hist) * us,
		.percentiles = wanted_percentiles(spec, wanted),
	};
	for (unsigned i = 0; i < ret->percentiles; i++) {
		ret->percentile[i].p = wanted[i];
		ret->percentile[i].us = (double)hist_percentile(hist, wanted[i]) * us;
		ret->percentile[i].beyond = samples_beyond(hist->count, wanted[i]);
		ret->percentile[i].significant = hist_significant(hist, wanted[i]);
	}
	return true;
}

bool result_hist(const struct result *result, struct hist *into)
{
	const struct rank_result *sender = result_sender(result);

	for (uint32_t i = 0; sender && i < sender->workers; i++)
		if (sender->worker[i].hist)
			hist_merge(into, sender->worker[i].hist);
	return into->count > 0;
}

bool result_latency(const struct result *result, struct latency *ret)
{
	struct hist all;

	hist_init(&all);
	result_hist(result, &all);
	return latency_of(&result->request.spec, &all, ret);
}

bool worker_latency(const struct spec *spec, const struct worker_result *worker, struct latency *ret)
{
	return worker->hist && latency_of(spec, worker->hist, ret);
}

bool result_acknowledged(const struct result *result)
{
	const struct rank_result *sender = result_sender(result);

	return sender && sender->delivery;
}

uint64_t result_unanswered(const struct result *result)
{
	const struct rank_result *sender = result_sender(result);
	uint64_t count = 0;

	for (uint32_t i = 0; sender && i < sender->workers; i++)
		count += sender->worker[i].timeouts;
	return count;
}
