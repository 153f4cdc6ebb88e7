/* The figures: bandwidth and message rate or latency, both sides' counts, loss, steadiness, each worker. */
#include "report/blocks.h"
#include "report/page.h"

#include "base/units.h"
#include "report/bursts.h"
#include "spec/result.h"

#include <math.h>

#define WORKERS_SHOWN 64

/* What a sample is. */
static void latency_meaning(const struct result *result, char *ret, size_t size)
{
	const struct spec *spec = &result->request.spec;

	const char *const from = spec_is_paced(spec) ? "due" : "post";
	const bool acknowledged = result_acknowledged(result);

	if (latency_is_halved(spec))
		snprintf(ret, size, "latency: half of the round trip");
	else if (latency_is_ping_pong(spec))
		snprintf(ret, size, "response time: from %s to answer, not halved", from);
	else if (spec->lat_mode != LAT_ONE_WAY)
		snprintf(ret, size, "latency: from %s to completion", from);
	else
		snprintf(ret, size, "one way: from %s to %s", from,
			 acknowledged ? "acknowledgement" : "local completion without acknowledgement");
}

static void side(const struct page *page, const struct result *result, const struct rank_result *rank,
		 const char *label)
{
	const struct rate rate = rank_rate(result, rank);
	char bits[UNITS_TEXT], messages[UNITS_TEXT], remark[UNITS_TEXT + 8];

	if (rate.seconds <= 0)
		return;
	snprintf(remark, sizeof(remark), "%s Mpps", units_format_figure(rate.mpps, messages));
	page_text(page, label, units_format_figure(rate.gbps, bits), "Gbit/sec", remark);
}

static void both_sides(const struct page *page, const struct result *result)
{
	const struct rank_result *receiver = result_receiver(result);

	if (!receiver || !receiver->counts_received)
		return;
	side(page, result, result_sender(result), "Sender BW");
	side(page, result, receiver, "Receiver BW");
}

static void loss(const struct page *page, const struct result *result)
{
	char text[UNITS_TEXT], percent[UNITS_TEXT] = "0", remark[3 * UNITS_TEXT];
	struct loss loss;
	bool order;

	if (!result_loss(result, &loss))
		return;
	order = loss.duplicated || loss.reordered;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)loss.lost);
	if (loss.lost)
		units_format_figure(100.0 * (double)loss.lost / (double)loss.sent, percent);
	snprintf(remark, sizeof(remark), "%s %% of %llu sent%s", percent, (unsigned long long)loss.sent,
		 loss.sequenced && !order ? ", none duplicated or reordered" : "");
	page_text(page, "Lost", text, "messages", remark);
	if (!order)
		return;
	page_count(page, "Duplicated", loss.duplicated, "messages");
	page_count(page, "Reordered", loss.reordered, "messages");
}

/* Latency tests give messages, not bits: the size says nothing there. */
static void steadiness(const struct page *page, const struct result *result)
{
	const bool lat = result->request.spec.metric == METRIC_LAT;
	const double scale = lat ? rate_mpps_of_gbps(&result->request.spec) : 1;
	const char *unit = lat ? "Mpps" : "Gbit/sec";
	char value[UNITS_TEXT], p1[UNITS_TEXT], max[UNITS_TEXT], remark[3 * UNITS_TEXT];
	struct steadiness steady;

	if (!rank_steadiness(result, result_authority(result), &steady))
		return;
	snprintf(remark, sizeof(remark), "%u intervals of %s", steady.intervals,
		 units_format_time((int64_t)llround(steady.interval_seconds * 1e9), value));
	page_text(page, "Median interval", units_format_figure(steady.median * scale, value), unit, remark);
	snprintf(remark, sizeof(remark), "1%%: %s, highest: %s", units_format_figure(steady.p1 * scale, p1),
		 units_format_figure(steady.max * scale, max));
	page_text(page, "Lowest interval", units_format_figure(steady.min * scale, value), unit, remark);
}

static void bandwidth(const struct page *page, const struct result *result)
{
	const struct rate rate = result_rate(result);

	if (rate.seconds <= 0)
		return;
	page_figure(page, "BW", rate.gbps, "Gbit/sec");
	page_figure(page, "Message Rate", rate.mpps, "Mpps");
	page_figure(page, "Duration", rate.seconds, "sec");
}

/* What belongs to one direction, or to the only one. */
static void direction(const struct page *page, const struct result *result)
{
	both_sides(page, result);
	loss(page, result);
	steadiness(page, result);
}

static void directions(const struct page *page, const struct result *result)
{
	struct page inner = *page;

	inner.indent = 2;
	for (unsigned i = 0; i < 2; i++) {
		struct direction way;

		result_direction(result, i, &way);
		side(page, &way.result, result_authority(&way.result), i ? "To client" : "To server");
		direction(&inner, &way.result);
	}
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

static void latency(const struct page *page, const struct result *result)
{
	struct latency latency;
	char samples[UNITS_TEXT], meaning[80];
	const uint64_t given_up = result_unanswered(result);
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
		latency_meaning(result, meaning, sizeof(meaning));
		page_text(page, "Samples", samples, "messages", meaning);
	}
	if (given_up)
		page_count(page, "Unanswered", given_up, "messages");
	if (rank_window(result, result_sender(result), &window))
		page_figure(page, "Duration", window.seconds, "sec");
}

static void load_line(const struct page *page, const char *label, double gbps, double mpps, const char *more)
{
	char bits[UNITS_TEXT], messages[UNITS_TEXT], remark[2 * UNITS_TEXT];

	snprintf(remark, sizeof(remark), "%s Mpps%s", units_format_figure(mpps, messages), more);
	page_text(page, label, units_format_figure(gbps, bits), "Gbit/sec", remark);
}

/* An open loop: how the asked load was kept. */
static void load(const struct page *page, const struct result *result)
{
	char count[UNITS_TEXT], mean[UNITS_TEXT], largest[UNITS_TEXT], remark[3 * UNITS_TEXT];
	struct load_kept load;

	if (!result_load(result, &load))
		return;
	load_line(page, "Asked load", load.asked_gbps, load.asked_mpps,
		  result->request.spec.arrivals == ARRIVALS_POISSON ? ", Poisson" : ", periodic");
	load_line(page, "Achieved load", load.done_gbps, load.done_mpps, load.sustained ? "" : ", not sustained");
	snprintf(count, sizeof(count), "%llu", (unsigned long long)load.late);
	snprintf(remark, sizeof(remark), "of %llu; lateness %s us on average, %s at most", (unsigned long long)load.due,
		 units_format_figure(load.late_mean_us, mean), units_format_figure(load.late_max_us, largest));
	page_text(page, "Late posts", count, "messages", remark);
	if (load.behind)
		page_count(page, "Behind at the end", load.behind, "messages");
	if (load.missed)
		page_count(page, "Never posted", load.missed, "messages");
}

static void bursts(const struct page *page, const struct result *result)
{
	struct burst_summary summary;

	if (result_bursts(result, &summary))
		block_bursts(page, &result->request.spec, &summary);
}

void block_figures(const struct page *page, const struct result *result)
{
	if (result->request.spec.metric == METRIC_LAT) {
		latency(page, result);
		load(page, result);
		steadiness(page, result);
		return;
	}
	bandwidth(page, result);
	load(page, result);
	bursts(page, result);
	if (result_directions(result) > 1)
		directions(page, result);
	else if (result_rate(result).seconds > 0)
		direction(page, result);
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

static const char *way_heading(const struct result *result)
{
	return result->direction == 1 ? "  to server" : result->direction == 2 ? "  to client" : "";
}

static void workers(const struct page *page, const struct result *result)
{
	const bool lat = result->request.spec.metric == METRIC_LAT;
	const struct rank_result *rank = result_authority(result);

	if (!rank || rank->workers < 2)
		return;
	page_blank(page);
	page_line(page, TONE_HEADING, "  %6s %6s %5s %14s %14s %7s%s", "worker", "core", "node",
		  lat ? "median usec" : "Gbit/sec", "Mpps", "CPU %", way_heading(result));
	for (uint32_t i = 0; i < rank->workers && i < WORKERS_SHOWN; i++)
		worker_line(page, result, rank, i);
	if (rank->workers > WORKERS_SHOWN)
		page_line(page, TONE_DIM, "  %u more are in the JSON document", rank->workers - WORKERS_SHOWN);
}

void block_workers(const struct page *page, const struct result *result)
{
	for (unsigned i = 0; i < result_directions(result); i++) {
		struct direction way;

		result_direction(result, i, &way);
		workers(page, &way.result);
	}
}
