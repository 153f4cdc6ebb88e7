/* A prediction as JSON: docs/plan.schema.json has its fields. */
#include "report/predict.h"

#include "report/tree.h"
#include "spec/spec.h"

#include <math.h>

#define GBIT (1e9 / 8)
#define USEC 1e-6

static void usec(json_t **object, const char *key, double seconds)
{
	tree_put(object, key, tree_real(seconds / USEC));
}

static void gbit(json_t **object, const char *key, double rate)
{
	tree_put(object, key, tree_real(rate / GBIT));
}

static void bytes(json_t **object, const char *key, double value)
{
	tree_put(object, key, tree_real(value));
}

static void since(json_t **object, const char *key, double seconds)
{
	tree_put(object, key, seconds < 0 ? json_null() : tree_real(seconds / USEC));
}

static json_t *outcome(const struct sim_outcome *out)
{
	json_t *object = json_object();

	bytes(&object, "peakBytes", out->peak);
	bytes(&object, "offeredBytes", out->offered);
	bytes(&object, "dropBytes", out->dropped);
	tree_put(&object, "dropPercent", tree_real(out->offered > 0 ? 100 * out->dropped / out->offered : 0));
	tree_put(&object, "markedPercent", tree_real(out->offered > 0 ? 100 * out->marked / out->offered : 0));
	since(&object, "firstDropUsec", out->first_drop);
	since(&object, "emptyUsec", out->empty);
	usec(&object, "pausedUsec", out->paused);
	return object;
}

static json_t *simulation_part(const struct plan_prediction *prediction)
{
	const struct simulation *const simulation = &prediction->simulation;
	json_t *object;

	if (!prediction->simulated)
		return json_null();
	object = json_object();
	tree_put(&object, "bursts", tree_count(simulation->bursts));
	tree_put(&object, "events", tree_count(simulation->events));
	tree_put(&object, "packets", tree_count(simulation->packets));
	tree_put(&object, "fluid", outcome(&simulation->fluid));
	tree_put(&object, "packet", simulation->packets ? outcome(&simulation->packet) : json_null());
	return object;
}

static void put_case(json_t **object, const struct prediction *is)
{
	tree_put(object, "senders", json_integer(is->of.senders));
	tree_put(object, "ports", json_integer(is->of.ports));
	tree_put(object, "connectionsPerSender", json_integer(is->of.sent));
	gbit(object, "payloadRateGbSec", is->of.link);
	gbit(object, "senderPayloadRateGbSec", is->of.sender);
	bytes(object, "bufferLimitBytes", is->burst.limit);
	bytes(object, "burstBytes", is->burst.bytes);
	bytes(object, "offeredBytes", is->burst.senders * is->burst.bytes);
	tree_put(object, "startSkewUsec", is->of.free_phases ? json_null() : tree_real(is->of.skew / USEC));
}

static void put_figures(json_t **object, const struct prediction *is)
{
	usec(object, "burstUsec", is->length);
	usec(object, "senderBurstUsec", is->node_length);
	usec(object, "cycleUsec", is->of.cycle);
	usec(object, "overlapUsec", is->overlap);
	gbit(object, "fillRateGbSec", is->fill_rate);
	usec(object, "timeToFillUsec", is->fill);
	bytes(object, "peakBytes", is->peak);
	bytes(object, "chancePeakBytes", is->usual);
	bytes(object, "dropBytes", is->drop);
	tree_put(object, "dropPercent", tree_real(100 * is->share));
	tree_put(object, "hitMessagesPercent", tree_real(100 * is->hit));
	tree_put(object, "kneeMessages", tree_real(is->knee));
	usec(object, "drainUsec", is->drain);
	gbit(object, "senderAverageGbSec", is->sender_average);
	gbit(object, "receiverAverageGbSec", is->receiver_average);
	bytes(object, "inFlightBytes", is->in_flight);
	usec(object, "markUsec", is->mark);
	bytes(object, "uncontrolledBytes", is->uncontrolled);
	bytes(object, "pfcHeadroomBytes", is->headroom);
	tree_put(object, "exact", json_boolean(is->exact));
	tree_put(object, "overload", json_boolean(is->overload));
}

json_t *report_predict_json(const struct plan_prediction *prediction)
{
	json_t *object;

	if (!prediction->there)
		return json_null();
	object = json_object();
	tree_put(&object, "test", json_integer(prediction->test));
	tree_put(&object, "burstProfile", json_string(burst_name(prediction->profile)));
	put_case(&object, &prediction->is);
	put_figures(&object, &prediction->is);
	tree_put(&object, "simulation", simulation_part(prediction));
	return object;
}
