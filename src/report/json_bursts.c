/* Bursts in the result document. */
#include "report/bursts.h"

#include "report/tree.h"

static json_t *spread(const struct burst_spread *s)
{
	json_t *object;

	if (!s->count)
		return json_null();
	object = json_object();
	tree_put(&object, "samples", tree_count(s->count));
	tree_put(&object, "p1Usec", tree_real(s->p1));
	tree_put(&object, "p50Usec", tree_real(s->p50));
	tree_put(&object, "p95Usec", tree_real(s->p95));
	tree_put(&object, "p99Usec", tree_real(s->p99));
	tree_put(&object, "maxUsec", tree_real(s->max));
	return object;
}

/* Only where bursts of several senders belong together. */
static json_t *together(const struct burst_summary *b)
{
	json_t *object;

	if (b->senders < 2 || !b->compared)
		return json_null();
	object = json_object();
	tree_put(&object, "comparedBursts", tree_count(b->compared));
	tree_put(&object, "firstComparedBurst", tree_count(b->first_compared));
	tree_put(&object, "completeBursts", tree_count(b->complete));
	tree_put(&object, "validBursts", tree_count(b->valid));
	tree_put(&object, "validFraction", tree_real((double)b->valid / (double)b->compared));
	tree_put(&object, "startSkew", spread(&b->skew));
	tree_put(&object, "clockU95Usec", tree_real(b->clock_u95_us));
	tree_put(&object, "clockErrorUsec", tree_real(b->clock_us));
	tree_put(&object, "overlapAll", spread(&b->overlap_all));
	tree_put(&object, "overlapHalf", spread(&b->overlap_half));
	tree_put(&object, "halfSenders", tree_count(b->half));
	return object;
}

/* Where the receivers tell it. */
static json_t *arrivals(const struct spec *spec, const struct burst_summary *b)
{
	const struct arrival_summary *a = &b->arrivals;
	json_t *object;

	if (!a->bursts)
		return json_null();
	object = json_object();
	tree_put(&object, "receivers", tree_count(a->receivers));
	tree_put(&object, "bursts", tree_count(a->bursts));
	tree_put(&object, "wholeBursts", spec->burst_size ? tree_count(a->whole) : json_null());
	tree_put(&object, "firstToLast", spread(&a->span));
	tree_put(&object, "slowdown", tree_real(a->slowdown));
	return object;
}

/* Where all senders have one receiver, to which it shows what comes. */
static json_t *volley(const struct spec *spec, const struct burst_summary *b)
{
	const struct volley_summary *v = &b->volley;
	json_t *object;

	if (v->senders < 2)
		return json_null();
	object = json_object();
	tree_put(&object, "senders", tree_count(v->senders));
	tree_put(&object, "messageBytes", tree_count(spec->size));
	tree_put(&object, "arrivalSpread", spread(&v->arrived));
	tree_put(&object, "postSpread", spread(&v->posted));
	tree_put(&object, "clocksAndPathsUsec", tree_real(v->apart_us));
	tree_put(&object, "linkUsec", tree_real(v->serial_us));
	return object;
}

json_t *part_burst_size(const struct spec *spec)
{
	return spec->burst_size ? tree_count(spec->burst_size) : json_null();
}

json_t *part_bursts(const struct spec *spec, const struct burst_summary *b)
{
	const bool paced = spec->burst_profile == BURST_STORAGE;
	json_t *object;

	if (!b)
		return json_null();
	object = json_object();
	tree_put(&object, "profile", json_string(burst_name(spec->burst_profile)));
	tree_put(&object, "burstSize", part_burst_size(spec));
	tree_put(&object, "senders", tree_count(b->senders));
	tree_put(&object, "slots", tree_count(b->slots));
	tree_put(&object, "bursts", tree_count(b->bursts));
	tree_put(&object, "lateBursts", tree_count(b->late));
	tree_put(&object, "skippedSlots", tree_count(b->skipped));
	tree_put(&object, "fullSlots", tree_count(b->full));
	tree_put(&object, "messages", tree_count(b->messages));
	tree_put(&object, "periodUsec", tree_real(b->period_us));
	tree_put(&object, "lateness", spread(&b->lateness));
	tree_put(&object, "length", spread(&b->length));
	tree_put(&object, "burstGbSec", tree_real(b->burst_gbps));
	tree_put(&object, "gap", spread(&b->gap));
	tree_put(&object, "together", together(b));
	tree_put(&object, "completion", spread(&b->completion));
	tree_put(&object, "idealUsec", tree_real(b->ideal_us));
	tree_put(&object, "slowdown", tree_real(b->slowdown));
	tree_put(&object, "arrivals", arrivals(spec, b));
	tree_put(&object, "volley", volley(spec, b));
	tree_put(&object, "pacedBy", paced ? json_string(paced_by(b)) : json_null());
	tree_put(&object, "askedFlowGbSec", paced ? tree_real((double)spec->rate_limit / 1e9) : json_null());
	tree_put(&object, "achievedFlowGbSec", tree_real(b->flow_gbps));
	tree_put(&object, "slowestFlowGbSec", tree_real(b->slowest_gbps));
	tree_put(&object, "fastestFlowGbSec", tree_real(b->fastest_gbps));
	return object;
}
