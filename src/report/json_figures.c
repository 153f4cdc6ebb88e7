/* Figures in the result document: bandwidth, latency with its histogram, loss, steadiness, window, CPU, verdict. */
#include "report/parts.h"

#include "base/hist.h"
#include "report/judge.h"
#include "report/tree.h"

#include <math.h>

static bool is_latency(const struct result *result)
{
	return result->request.spec.metric == METRIC_LAT;
}

static json_t *bw_object(const struct result *result, const struct rate *rate)
{
	json_t *object;

	if (!result->measured || is_latency(result) || rate->seconds <= 0)
		return json_null();
	object = json_object();
	tree_put(&object, "bwGbSec", tree_real(rate->gbps));
	tree_put(&object, "msgRateMpps", tree_real(rate->mpps));
	tree_put(&object, "durationSec", tree_real(rate->seconds));
	tree_put(&object, "messages", tree_count(rate->messages));
	tree_put(&object, "bytes", tree_count(rate->bytes));
	return object;
}

json_t *part_bw(const struct result *result, const struct rank_result *rank)
{
	const struct rate rate = rank_rate(result, rank);

	return bw_object(result, &rate);
}

json_t *part_bw_total(const struct result *result)
{
	const struct rate rate = result_rate(result);

	return bw_object(result, &rate);
}

static json_t *percentiles(const struct latency *latency)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < latency->percentiles; i++) {
		json_t *object = json_object();

		tree_put(&object, "percentile", tree_real(latency->percentile[i].p));
		tree_put(&object, "usec", tree_real(latency->percentile[i].us));
		tree_put(&object, "samplesBeyond", tree_count(latency->percentile[i].beyond));
		tree_put(&object, "significant", json_boolean(latency->percentile[i].significant));
		tree_append(&array, object);
	}
	return array;
}

static double percentile_usec(const struct latency *latency, double p)
{
	for (unsigned i = 0; i < latency->percentiles; i++)
		if (fabs(latency->percentile[i].p - p) < 1e-9)
			return latency->percentile[i].us;
	return (double)NAN;
}

/* Buckets that hold samples: [lowest ns, highest ns, samples], as measured (a round trip is not halved here). */
static json_t *buckets(const struct hist *hist)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		json_t *row;

		if (!hist->bucket[i])
			continue;
		row = json_array();
		tree_append(&row, tree_count(hist_bucket_low(i)));
		tree_append(&row, tree_count(hist_bucket_high(i)));
		tree_append(&row, tree_count(hist->bucket[i]));
		tree_append(&array, row);
	}
	return array;
}

static const char *mode_name(const struct spec *spec)
{
	if (latency_is_ping_pong(spec))
		return latency_is_halved(spec) ? "half_round_trip" : "round_trip";
	return spec->lat_mode == LAT_ONE_WAY ? "one_way" : "completion";
}

static json_t *latency_object(const struct result *result, const struct latency *latency)
{
	const struct spec *spec = &result->request.spec;
	json_t *object = json_object();

	tree_put(&object, "minUsec", tree_real(latency->min));
	tree_put(&object, "maxUsec", tree_real(latency->max));
	tree_put(&object, "meanUsec", tree_real(latency->mean));
	tree_put(&object, "medianUsec", tree_real(latency->median));
	tree_put(&object, "stdDevUsec", tree_real(latency->stddev));
	tree_put(&object, "p99Usec", tree_real(percentile_usec(latency, 99)));
	tree_put(&object, "p999Usec", tree_real(percentile_usec(latency, 99.9)));
	tree_put(&object, "percentiles", percentiles(latency));
	tree_put(&object, "samples", tree_count(latency->samples));
	tree_put(&object, "mode", json_string(mode_name(spec)));
	tree_put(&object, "halved", json_boolean(latency->halved));
	tree_put(&object, "from", json_string(spec_is_paced(spec) ? "due" : "post"));
	tree_put(&object, "acknowledged",
		 latency_is_ping_pong(spec) ? json_null() : json_boolean(result_acknowledged(result)));
	return object;
}

json_t *part_lat_summary(const struct result *result)
{
	struct latency latency;
	json_t *object;

	if (!result->measured || !is_latency(result) || !result_latency(result, &latency))
		return json_null();
	object = latency_object(result, &latency);
	tree_put(&object, "unanswered", tree_count(result_unanswered(result)));
	return object;
}

json_t *part_lat(const struct result *result)
{
	json_t *object = part_lat_summary(result);
	struct hist hist;

	hist_init(&hist);
	if (json_is_object(object) && result_hist(result, &hist))
		tree_put(&object, "histogram", buckets(&hist));
	return object;
}

json_t *part_load(const struct result *result)
{
	const bool poisson = result->request.spec.arrivals == ARRIVALS_POISSON;
	struct load_kept load;
	json_t *object;

	if (!result->measured || !result_load(result, &load))
		return json_null();
	object = json_object();
	tree_put(&object, "arrivals", json_string(poisson ? "poisson" : "periodic"));
	tree_put(&object, "askedGbSec", tree_real(load.asked_gbps));
	tree_put(&object, "askedMpps", tree_real(load.asked_mpps));
	tree_put(&object, "achievedGbSec", tree_real(load.done_gbps));
	tree_put(&object, "achievedMpps", tree_real(load.done_mpps));
	tree_put(&object, "sustained", json_boolean(load.sustained));
	tree_put(&object, "dueMessages", tree_count(load.due));
	tree_put(&object, "latePosts", tree_count(load.late));
	tree_put(&object, "meanLatenessUsec", tree_real(load.late_mean_us));
	tree_put(&object, "maxLatenessUsec", tree_real(load.late_max_us));
	tree_put(&object, "behindMessages", tree_count(load.behind));
	tree_put(&object, "missedMessages", tree_count(load.missed));
	return object;
}

json_t *part_loss(const struct result *result)
{
	struct loss loss;
	json_t *object;

	if (!result->measured || is_latency(result) || !result_loss(result, &loss))
		return json_null();
	object = json_object();
	tree_put(&object, "sent", tree_count(loss.sent));
	tree_put(&object, "received", tree_count(loss.received));
	tree_put(&object, "lost", tree_count(loss.lost));
	tree_put(&object, "lostFraction", loss.sent ? tree_real((double)loss.lost / (double)loss.sent) : json_null());
	tree_put(&object, "duplicated", loss.sequenced ? tree_count(loss.duplicated) : json_null());
	tree_put(&object, "reordered", loss.sequenced ? tree_count(loss.reordered) : json_null());
	return object;
}

static void put_rate(json_t **object, const char *what, const char *unit, bool known, double value)
{
	char key[32];

	snprintf(key, sizeof(key), "%s%s", what, unit);
	tree_put(object, key, known ? tree_real(value) : json_null());
}

/* Scale 0: not in this unit. */
static void put_spread(json_t **object, const struct steadiness *steady, const char *unit, double scale)
{
	const bool known = steady && scale > 0;

	put_rate(object, "min", unit, known, known ? steady->min * scale : 0);
	put_rate(object, "p1", unit, known, known ? steady->p1 * scale : 0);
	put_rate(object, "median", unit, known, known ? steady->median * scale : 0);
	put_rate(object, "max", unit, known, known ? steady->max * scale : 0);
}

static json_t *series(const double *gbps, unsigned n, double scale)
{
	json_t *array = scale > 0 ? json_array() : json_null();

	for (unsigned i = 0; scale > 0 && i < n; i++)
		tree_append(&array, tree_real(gbps[i] * scale));
	return array;
}

/* Latency tests give messages, not bits: the size says nothing there. */
json_t *part_steadiness(const struct result *result, const struct rank_result *rank)
{
	const double bits = is_latency(result) ? 0 : 1;
	const double messages = is_latency(result) ? rate_mpps_of_gbps(&result->request.spec) : 0;
	double gbps[RESULT_INTERVALS], seconds = 0;
	const unsigned n = rank ? rank_intervals(result, rank, gbps, &seconds) : 0;
	struct steadiness steady;
	const bool known = rank_steadiness(result, rank, &steady);
	json_t *object;

	if (!result->measured || !n)
		return json_null();
	object = json_object();
	put_spread(&object, known ? &steady : NULL, "GbSec", bits);
	put_spread(&object, known ? &steady : NULL, "Mpps", messages);
	tree_put(&object, "intervalSec", tree_real(seconds));
	tree_put(&object, "seriesGbSec", series(gbps, n, bits));
	tree_put(&object, "seriesMpps", series(gbps, n, messages));
	return object;
}

json_t *part_window(const struct result *result, const struct rank_result *rank)
{
	const bool clock = rank && rank->clock_error_ns >= 0;
	struct window window;
	json_t *object;

	if (!result->measured || !rank_window(result, rank, &window))
		return json_null();
	object = json_object();
	tree_put(&object, "durationSec", tree_real(window.seconds));
	tree_put(&object, "beginSkewUsec", tree_real(window.begin_skew * 1e6));
	tree_put(&object, "endSkewUsec", tree_real(window.end_skew * 1e6));
	tree_put(&object, "edgeError", tree_real(window.edge_error));
	tree_put(&object, "edgeBracketUsec", tree_real(window.edge_bracket * 1e6));
	tree_put(&object, "beginNs", json_integer(window.begin_ns));
	tree_put(&object, "endNs", json_integer(window.end_ns));
	tree_put(&object, "clockOffsetNs", clock ? json_integer(rank->clock_offset_ns) : json_null());
	tree_put(&object, "clockErrorNs", clock ? json_integer(rank->clock_error_ns) : json_null());
	return object;
}

json_t *part_cpu(const struct rank_result *rank)
{
	struct cpu_time time;
	json_t *object;

	if (!rank_cpu(rank, &time))
		return json_null();
	object = json_object();
	tree_put(&object, "userSec", tree_real(time.user));
	tree_put(&object, "systemSec", tree_real(time.system));
	tree_put(&object, "percentOfWindow", tree_real(time.percent));
	return object;
}

json_t *part_threshold(const struct result *result)
{
	const struct spec *spec = &result->request.spec;
	const int outcome = is_latency(result) ? result_lat_threshold(result) : result_bw_threshold(result);
	json_t *object;

	if (outcome == 0)
		return json_null();
	object = json_object();
	tree_put(&object, "kind", json_string(is_latency(result) ? "lat" : "bw"));
	tree_put(&object, "value", tree_real(is_latency(result) ? spec->lat_threshold : spec->bw_threshold));
	tree_put(&object, "status", json_string(!result->measured ? "notMeasured" : outcome > 0 ? "passed" : "missed"));
	return object;
}

static void append_remark(void *context, const struct remark *remark)
{
	json_t **array = context;
	json_t *object = json_object();

	tree_put(&object, "id", json_string(remark->id));
	tree_put(&object, "serious", json_boolean(remark->serious));
	tree_put(&object, "text", tree_text(remark->text));
	tree_append(array, object);
}

json_t *part_remarks(const struct result *result)
{
	json_t *array = json_array();

	judge_result(result, append_remark, &array);
	return array;
}
