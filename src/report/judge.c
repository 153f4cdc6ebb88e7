/* Judges a result: not steady, shared cores, blurred edges, above the link rate, unconfirmed delivery, failed workers. */
#include "report/judge.h"

#include "base/units.h"
#include "counters/counters.h"
#include "spec/burst.h"
#include "spec/result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define EDGE_LIMIT    0.01 /* of the figure */
#define EDGE_WRONG    0.1 /* of the figure: it is then no figure any more */
#define BRACKET_LIMIT 0.001 /* of the window */
#define CLOCK_LIMIT   0.001 /* of the window */
#define SIDES_LIMIT   0.01 /* of the window */
#define SHORT_LIMIT   0.9 /* of the window asked for */
#define LINK_LIMIT    1.001 /* of the link rate */
#define LATE_LIMIT    0.01 /* of the messages */
#define FALL_LIMIT    0.5 /* lowest interval, of the median */

struct court {
	const struct result *result;
	const char *way; /* before a sentence about one direction of two */
	void (*say)(void *context, const struct remark *remark);
	void *context;
};

static void say(const struct court *court, const char *id, bool serious, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
static void say(const struct court *court, const char *id, bool serious, const char *format, ...)
{
	struct remark remark = { .id = id, .serious = serious };
	const int prefix = snprintf(remark.text, sizeof(remark.text), "%s", court->way);
	va_list args;

	va_start(args, format);
	vsnprintf(remark.text + prefix, sizeof(remark.text) - (size_t)prefix, format, args);
	va_end(args);
	court->say(court->context, &remark);
}

static bool is_latency(const struct court *court)
{
	return court->result->request.spec.metric == METRIC_LAT;
}

/* The side whose counts and window make the figure. */
static const struct rank_result *figure_side(const struct court *court)
{
	return result_authority(court->result);
}

static const char *role(const struct court *court, const struct rank_result *rank)
{
	return rank == &court->result->rank[0] ? "client" : "server";
}

static void judge_steady(const struct court *court)
{
	const struct rate rate = rank_rate(court->result, figure_side(court));
	struct latency latency = { 0 };
	char seconds[UNITS_TEXT];

	if (result_is_steady(court->result))
		return;
	if (is_latency(court))
		(void)result_latency(court->result, &latency);
	say(court, "notSteady", false,
	    "not steady: %llu %s in %s s; a figure needs 10000 in at least 1 s to be relied on",
	    (unsigned long long)(is_latency(court) ? latency.samples : rate.messages),
	    is_latency(court) ? "samples" : "messages", units_format_figure(rate.seconds, seconds));
}

static void judge_falls(const struct court *court)
{
	struct steadiness steady;
	char low[UNITS_TEXT], median[UNITS_TEXT];

	if (is_latency(court) || !rank_steadiness(court->result, figure_side(court), &steady))
		return;
	if (steady.median <= 0) {
		say(court, "uneven", false, "uneven: nothing completed in half of the intervals or more");
		return;
	}
	if (steady.min >= FALL_LIMIT * steady.median)
		return;
	say(court, "uneven", false,
	    "uneven: the rate fell to %s Gbit/sec in an interval, half of the median %s or less",
	    units_format_figure(steady.min, low), units_format_figure(steady.median, median));
}

static void judge_cores(const struct court *court)
{
	for (uint32_t i = 0; i < court->result->ranks; i++) {
		if (!court->result->rank[i].cores_shared)
			continue;
		say(court, "coresShared", false,
		    "workers share a core with others of this test: they take turns, and figures differ from those "
		    "with a "
		    "core each");
		return;
	}
}

static void judge_window(const struct court *court)
{
	struct window window;
	char text[UNITS_TEXT];

	if (!rank_window(court->result, figure_side(court), &window))
		return;
	if (window.edge_bracket > BRACKET_LIMIT * window.seconds)
		say(court, "edgeBracket", true,
		    "an edge of the window is only known to %s ms, %.1f %% of the window: the worker was held up there",
		    units_format_figure(window.edge_bracket * 1e3, text), 100 * window.edge_bracket / window.seconds);
	if (window.edge_error > EDGE_LIMIT)
		say(court, "edgeError", window.edge_error > EDGE_WRONG,
		    "messages under way at the edges are %.1f %% of those counted; the figure may be wrong by as much: "
		    "run longer or with smaller messages",
		    100 * window.edge_error);
}

/* A worker that got its core late has measured something else than the others, or nothing at all. */
static void judge_late(const struct court *court, const struct rank_result *rank)
{
	const double asked = (double)court->result->request.spec.duration_ns;
	char text[UNITS_TEXT];

	for (uint32_t i = 0; i < rank->workers; i++) {
		const double window = (double)(rank->worker[i].end_ns - rank->worker[i].begin_ns);

		if (window >= SHORT_LIMIT * asked || rank->worker[i].error.code)
			continue;
		say(court, "shortWindow", true,
		    "worker %u of the %s measured for only %s ms of the %.0f asked: it got its core late", i,
		    role(court, rank), units_format_figure(window / 1e6, text), asked / 1e6);
		return;
	}
}

/* Of an ended test every window is short. Latency is the requestor's alone; whoever answers late makes a sample long. */
static void judge_late_ranks(const struct court *court)
{
	const struct result *result = court->result;
	struct window window;

	if (spec_quota(&result->request.spec) || result->status == RUN_INTERRUPTED || result->status == RUN_FAILED)
		return;
	for (uint32_t i = 0; i < result->ranks; i++)
		if (result->rank[i].active || (!is_latency(court) && rank_window(result, &result->rank[i], &window)))
			judge_late(court, &result->rank[i]);
}

/*
 * Both sides' windows in one clock: what one counted outside the other's window makes their figures differ. Where the
 * receiver counts, it counted time in which nothing could come.
 */
/* In step the sides wait for each other between iterations; only these are timed. */
static bool is_in_step(const struct court *court)
{
	const struct rank_result *sender = result_sender(court->result);

	return sender && sender->workers && sender->worker[0].timed_ns;
}

static void judge_sides(const struct court *court)
{
	const struct rank_result *sender = result_sender(court->result), *receiver = result_receiver(court->result);
	struct window a, b;
	double apart;
	char text[UNITS_TEXT];

	if (is_latency(court) || is_in_step(court) || !receiver || !receiver->counts_received ||
	    receiver->clock_error_ns < 0 || !rank_window(court->result, sender, &a) ||
	    !rank_window(court->result, receiver, &b))
		return;
	apart = fmax(fabs((double)(a.begin_ns - b.begin_ns)), fabs((double)(a.end_ns - b.end_ns))) / 1e9;
	if (apart > SIDES_LIMIT * a.seconds)
		say(court, "sidesDiffer", figure_side(court) == receiver,
		    "the two sides' windows lie up to %s ms apart (a host that is too busy): their rates differ by as "
		    "much",
		    units_format_figure(apart * 1e3, text));
}

static void judge_clock(const struct court *court)
{
	const struct result *result = court->result;

	for (uint32_t i = 0; i < result->ranks; i++) {
		const struct rank_result *rank = &result->rank[i];
		const double error = (double)rank->clock_error_ns / 1e9;
		char text[UNITS_TEXT];
		struct window window;

		if (!rank_window(result, rank, &window) || error <= CLOCK_LIMIT * window.seconds)
			continue;
		say(court, "clockError", false,
		    "the clock of the %s is only known to %s ms: the two sides' windows may differ by that much",
		    role(court, rank), units_format_figure(error * 1e3, text));
	}
}

/* Gb/s of the link: the slower side's, or the rate that the null driver was given; 0 when neither side knows. */
static double link_rate(const struct court *court)
{
	double link = 0;

	if (court->result->request.spec.driver == DRIVER_NULL)
		return (double)court->result->request.spec.null_rate / 1e9;
	for (uint32_t i = 0; i < court->result->ranks; i++) {
		const char *text = facts_get(&court->result->rank[i].facts, "linkGbSec");
		double rate;

		if (text && units_parse_real(text, &rate, NULL) == 0 && rate > 0 && (link <= 0 || rate < link))
			link = rate;
	}
	return link;
}

static void judge_link(const struct court *court)
{
	const double link = link_rate(court), gbps = rank_rate(court->result, figure_side(court)).gbps;
	char text[UNITS_TEXT], limit[UNITS_TEXT];

	if (is_latency(court) || link <= 0 || gbps <= link * LINK_LIMIT)
		return;
	say(court, "aboveLinkRate", true,
	    "%s Gbit/sec is more than the link's %s: do not use this figure; the window or the link's rate is wrong",
	    units_format_figure(gbps, text), units_format_figure(link, limit));
}

/* An open loop whose messages pile up has no latency of its own, and no more than what came through is its rate. */
static void judge_load(const struct court *court)
{
	struct load_kept load;
	char asked[UNITS_TEXT], done[UNITS_TEXT];

	if (!result_load(court->result, &load))
		return;
	if (!load.sustained)
		say(court, "notSustained", true,
		    "the load was not kept up: %s Mpps asked, %s achieved, %llu messages behind at the end; what "
		    "waited "
		    "for its turn grows with the length of the test",
		    units_format_figure(load.asked_mpps, asked), units_format_figure(load.done_mpps, done),
		    (unsigned long long)load.behind);
	else if ((double)load.late > LATE_LIMIT * (double)load.due)
		say(court, "latePosts", false,
		    "%.1f %% of the messages were posted late, by up to %s us: this host or a full queue, not the "
		    "network, made them wait; latencies count that",
		    100 * (double)load.late / (double)load.due, units_format_figure(load.late_max_us, done));
}

/* Packet pacing is believed by what came of it only. */
static void judge_paced(const struct court *court)
{
	struct burst_summary bursts;
	struct remark remark;

	if (result_bursts(court->result, &bursts) &&
	    judge_pacing(&court->result->request.spec, &bursts, facts_get(&result_sender(court->result)->facts, "mtu"),
			 &remark))
		say(court, remark.id, remark.serious, "%s", remark.text);
}

static void judge_delivery(const struct court *court)
{
	const struct rank_result *rank = figure_side(court);
	const struct loss nothing = { 0 };
	struct loss loss = nothing;

	if (is_latency(court) || !rank)
		return;
	if (rank->active && !rank->delivery)
		say(court, "deliveryUnknown", false,
		    "counted where it was sent: with %s that does not mean that it arrived, and the receiver does not "
		    "count",
		    transport_name(court->result->request.spec.transport));
	if (result_loss(court->result, &loss) && loss.received > loss.sent)
		say(court, "moreReceived", true, "%llu messages were received but only %llu sent: the counts are wrong",
		    (unsigned long long)loss.received, (unsigned long long)loss.sent);
}

static void judge_validated(const struct court *court)
{
	if (court->result->request.spec.validate && !is_in_step(court))
		say(court, "validated", false,
		    "every message was filled and every byte compared: the figures include that work");
}

static void judge_workers(const struct court *court)
{
	for (uint32_t i = 0; i < court->result->ranks; i++) {
		const struct rank_result *rank = &court->result->rank[i];

		for (uint32_t w = 0; w < rank->workers; w++)
			if (rank->worker[w].error.code)
				say(court, "workerFailed", true, "worker %u of the %s failed: %s", w, role(court, rank),
				    rank->worker[w].error.text);
	}
}

static void say_moved(void *context, const char *id, const char *text)
{
	say(context, id, false, "%s", text);
}

/* What the counters of both sides' NICs tell, and whose they do not tell of what was lost. */
static void judge_counters(const struct court *court)
{
	static const char *const names[] = { "the client", "the server" };
	const struct rank_result *rank = court->result->rank;
	struct counted counted[2];
	struct loss loss;

	if (court->result->ranks != 2)
		return;
	for (unsigned i = 0; i < 2; i++)
		counted[i] = (struct counted){ names[i], &rank[i].counters };
	counters_tell(counted, 2, say_moved, (void *)(uintptr_t)court);
	if (rank[0].counters.count && rank[1].counters.count && result_loss(court->result, &loss) && loss.lost &&
	    !counters_tell_loss(&rank[0].counters) && !counters_tell_loss(&rank[1].counters))
		say(court, "lostBetween", false,
		    "%llu messages were lost and no counter of either side's NIC or host tells of it: they were lost "
		    "in "
		    "the network between them",
		    (unsigned long long)loss.lost);
}

static const struct {
	void (*judge)(const struct court *court);
	bool each; /* for each direction */
} judges[] = {
	{ judge_steady, true },      { judge_falls, true },    { judge_cores, false }, { judge_window, true },
	{ judge_late_ranks, false }, { judge_sides, true },    { judge_clock, false }, { judge_link, true },
	{ judge_delivery, true },    { judge_workers, false }, { judge_load, false },  { judge_validated, false },
	{ judge_counters, false },   { judge_paced, false },
};

void judge_result(const struct result *result, void (*say_it)(void *context, const struct remark *remark),
		  void *context)
{
	static const char *const ways[] = { "to the server: ", "to the client: " };
	const bool two = result_directions(result) > 1;

	if (!result->measured)
		return;
	for (size_t i = 0; i < sizeof(judges) / sizeof(judges[0]); i++) {
		struct court court = { .result = result, .way = "", .say = say_it, .context = context };
		struct direction way;

		for (unsigned d = 0; d < (two && judges[i].each ? 2 : 1); d++) {
			if (two && judges[i].each) {
				result_direction(result, d, &way);
				court.result = &way.result;
				court.way = ways[d];
			}
			judges[i].judge(&court);
		}
	}
}
