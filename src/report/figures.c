/* The figures: bandwidth and message rate or latency, both sides' counts, loss, steadiness, the window, each worker. */
#include "report/blocks.h"
#include "report/page.h"

#include "base/units.h"
#include "spec/result.h"

#include <math.h>

#define WORKERS_SHOWN 64

const char *latency_meaning(bool halved)
{
	return halved ? "latency: half of the round trip" : "latency: from post to completion";
}

static void side(const struct page *page, const struct result *result, const struct rank_result *rank, const char *name)
{
	const struct rate rate = rank_rate(result, rank);
	char label[40];

	if (rate.seconds <= 0)
		return;
	snprintf(label, sizeof(label), "%s BW", name);
	page_figure(page, label, rate.gbps, "Gbit/sec");
	snprintf(label, sizeof(label), "%s Message Rate", name);
	page_figure(page, label, rate.mpps, "Mpps");
}

static void both_sides(const struct page *page, const struct result *result)
{
	const struct rank_result *receiver = result_receiver(result);

	if (!receiver || !receiver->counts_received)
		return;
	side(page, result, result_sender(result), "Sender");
	side(page, result, receiver, "Receiver");
}

static void loss(const struct page *page, const struct result *result)
{
	char text[UNITS_TEXT], percent[UNITS_TEXT], remark[UNITS_TEXT + 32];
	struct loss loss;

	if (!result_loss(result, &loss))
		return;
	page_count(page, "Sent", loss.sent, "messages");
	page_count(page, "Received", loss.received, "messages");
	snprintf(text, sizeof(text), "%llu", (unsigned long long)loss.lost);
	if (loss.lost)
		units_format_figure(100.0 * (double)loss.lost / (double)loss.sent, percent);
	snprintf(remark, sizeof(remark), "%s %% of those sent", loss.lost ? percent : "0");
	page_text(page, "Lost", text, "messages", remark);
	if (!loss.sequenced)
		return;
	page_count(page, "Duplicated", loss.duplicated, "messages");
	page_count(page, "Reordered", loss.reordered, "messages");
}

static void bandwidth(const struct page *page, const struct result *result)
{
	const struct rate rate = rank_rate(result, result_authority(result));

	if (rate.seconds <= 0)
		return;
	page_figure(page, "BW", rate.gbps, "Gbit/sec");
	page_figure(page, "Message Rate", rate.mpps, "Mpps");
	page_figure(page, "Duration", rate.seconds, "sec");
	both_sides(page, result);
	loss(page, result);
}

static void percentile(const struct page *page, const struct latency *latency, unsigned at)
{
	char label[UNITS_TEXT], value[UNITS_TEXT], remark[64];

	snprintf(label, sizeof(label), "%.15g%% %s", latency->percentile[at].p,
		 latency->percentile[at].p < 90 ? "percentile" : "tail");
	snprintf(remark, sizeof(remark), "not significant: %llu sample%s beyond",
		 (unsigned long long)latency->percentile[at].beyond, latency->percentile[at].beyond == 1 ? "" : "s");
	page_text(page, label, units_format_figure(latency->percentile[at].us, value), "usec",
		  latency->percentile[at].significant ? NULL : remark);
}

static uint64_t timeouts(const struct result *result)
{
	const struct rank_result *sender = result_sender(result);
	uint64_t count = 0;

	for (uint32_t i = 0; sender && i < sender->workers; i++)
		count += sender->worker[i].timeouts;
	return count;
}

static void latency(const struct page *page, const struct result *result)
{
	struct latency latency;
	char samples[UNITS_TEXT];
	const uint64_t given_up = timeouts(result);
	struct window window;

	if (result_latency(result, &latency)) {
		page_figure(page, "Min latency", latency.min, "usec");
		page_figure(page, "Max latency", latency.max, "usec");
		page_figure(page, "Mean latency", latency.mean, "usec");
		page_figure(page, "Median latency", latency.median, "usec");
		page_figure(page, "Std deviation", latency.stddev, "usec");
		for (unsigned i = 0; i < latency.percentiles; i++)
			if (latency.percentile[i].p < 50 || latency.percentile[i].p > 50) /* that is the median */
				percentile(page, &latency, i);
		snprintf(samples, sizeof(samples), "%llu", (unsigned long long)latency.samples);
		page_text(page, "Samples", samples, "messages", latency_meaning(latency.halved));
	}
	if (given_up)
		page_count(page, "Unanswered", given_up, "messages");
	if (rank_window(result_sender(result), &window))
		page_figure(page, "Duration", window.seconds, "sec");
}

void block_figures(const struct page *page, const struct result *result)
{
	if (result->request.spec.metric == METRIC_LAT)
		latency(page, result);
	else
		bandwidth(page, result);
}

/* Latency tests give messages, not bits: the size says nothing there. */
static void steadiness(const struct page *page, const struct spec *spec, const struct steadiness *steady)
{
	const bool lat = spec->metric == METRIC_LAT;
	const double scale = lat ? 125.0 / (double)(spec->size ? spec->size : 1) : 1; /* Gb/s to Mpps */
	const char *unit = lat ? "Mpps" : "Gbit/sec";
	char seconds[UNITS_TEXT], value[UNITS_TEXT], remark[2 * UNITS_TEXT];

	snprintf(remark, sizeof(remark), "of %u intervals of %s", steady->intervals,
		 units_format_time((int64_t)llround(steady->interval_seconds * 1e9), seconds));
	page_text(page, "Lowest interval", units_format_figure(steady->min * scale, value), unit, remark);
	page_figure(page, "1% interval", steady->p1 * scale, unit);
	page_figure(page, "Median interval", steady->median * scale, unit);
	page_figure(page, "Highest interval", steady->max * scale, unit);
}

void block_window(const struct page *page, const struct result *result)
{
	const bool lat = result->request.spec.metric == METRIC_LAT;
	const struct rank_result *rank = lat ? result_sender(result) : result_authority(result);
	const double edge_error = lat ? (double)NAN : rank_edge_error(result_sender(result));
	const bool several = rank && rank->workers > 1;
	struct steadiness steady;
	const bool known = rank_steadiness(result, rank, &steady);

	if (known || several || !isnan(edge_error))
		page_blank(page);
	if (known)
		steadiness(page, &result->request.spec, &steady);
	if (several)
		page_figure(page, "Window skew", rank_window_skew(rank) * 1e6, "usec");
	if (!isnan(edge_error))
		page_figure(page, "Edge error", 100 * edge_error, "%");
}

static void worker_line(const struct page *page, const struct result *result, const struct rank_result *rank,
			uint32_t index)
{
	const struct worker_result *worker = &rank->worker[index];
	struct rank_result alone = *rank;
	char figure[UNITS_TEXT], rate[UNITS_TEXT], cpu[UNITS_TEXT] = "-";
	struct latency latency;
	struct cpu_time time;
	double value;

	alone.worker = &rank->worker[index];
	alone.workers = 1;
	if (result->request.spec.metric == METRIC_LAT)
		value = worker_latency(&result->request.spec, worker, &latency) ? latency.median : 0;
	else
		value = rank_rate(result, &alone).gbps;
	if (rank_cpu(&alone, &time))
		snprintf(cpu, sizeof(cpu), "%.1f", time.percent);
	page_line(page, TONE_PLAIN, "  %6u %6u %5d %14s %14s %7s", index, worker->core, worker->numa,
		  units_format_figure(value, figure), units_format_figure(rank_rate(result, &alone).mpps, rate), cpu);
}

void block_workers(const struct page *page, const struct result *result)
{
	const bool lat = result->request.spec.metric == METRIC_LAT;
	const struct rank_result *rank = lat ? result_sender(result) : result_authority(result);

	if (!rank || rank->workers < 2)
		return;
	page_blank(page);
	page_line(page, TONE_HEADING, "  %6s %6s %5s %14s %14s %7s", "worker", "core", "node",
		  lat ? "median usec" : "Gbit/sec", "Mpps", "CPU %");
	for (uint32_t i = 0; i < rank->workers && i < WORKERS_SHOWN; i++)
		worker_line(page, result, rank, i);
	if (rank->workers > WORKERS_SHOWN)
		page_line(page, TONE_DIM, "  %u more are in the JSON document", rank->workers - WORKERS_SHOWN);
}
