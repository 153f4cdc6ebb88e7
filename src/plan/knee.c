/* Takes the bursts of all senders out of an outcome: when each was sent, in rank 0's clock, and what was lost of them. */
#include "plan/knee.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define WIRE      24 /* bytes a packet takes on an Ethernet wire beyond what it takes in a queue: FCS, preamble, gap */
#define UDP_MTU   1500
#define UDP_HEAD  34 /* Ethernet, IPv4; UDP has 8 more, once a message */
#define ROCE_HEAD 58 /* Ethernet, IPv4, UDP, BTH, ICRC */

/* Headers in a message's first packet, or its last: where a write goes to, the immediate data, a datagram's. */
static double roce_once(const struct spec *spec)
{
	const double write = spec->verb == VERB_WRITE || spec->verb == VERB_WRITE_IMM ? 16 : 0;
	const double immediate = spec->verb == VERB_WRITE_IMM ? 4 : 0;

	return write + immediate + (spec->transport == TRANSPORT_UD ? 8 : 0);
}

/* Packets of a message, and its bytes in a queue. */
static double packets_of(const struct spec *spec, double *ret_frame)
{
	const double size = (double)spec->size;
	double packets;

	*ret_frame = size;
	if (spec->driver != DRIVER_SOCK && spec->driver != DRIVER_IBV)
		return 0;
	packets = spec->driver == DRIVER_SOCK ? ceil((size + 8) / (UDP_MTU - 20)) : ceil(size / (double)spec->mtu);
	*ret_frame += spec->driver == DRIVER_SOCK ? 8 + UDP_HEAD * packets : roce_once(spec) + ROCE_HEAD * packets;
	return packets;
}

static void begin(struct knee *knee, const struct plan *plan)
{
	const struct spec *const spec = &plan->test[0].sweep.spec[0];
	const double packets = packets_of(spec, &knee->frame);

	knee->payload = (double)spec->size;
	knee->drain = (double)spec->link_rate / 8 * knee->frame / (knee->frame + WIRE * packets);
	knee->workers = (double)spec->workers;
	knee->sender = knee->drain * (double)spec->sender_rate / (double)spec->link_rate / knee->workers;
	knee->connections = (double)plan->test[0].connections * (double)(spec->qps * spec->workers);
}

struct collect {
	struct knee_point *point;
	double frame;
	uint64_t messages; /* whose times are known */
	int64_t from_ns;
};

static int take(struct collect *c, const struct burst_record *record, struct error *err)
{
	struct knee_point *const point = c->point;
	const int64_t end_ns = record->done_ns ? record->done_ns : record->posted_ns;

	if (!(point->count & (point->count - 1))) { /* a power of two: full */
		const size_t room = point->count ? 2 * (size_t)point->count : 1;
		struct arrival *more = realloc(point->arrival, room * sizeof(*more));

		if (!more)
			return error_set(err, -ENOMEM, "no memory for %zu bursts", room);
		point->arrival = more;
	}
	if (!point->count)
		c->from_ns = record->rung_ns;
	point->arrival[point->count++] = (struct arrival){ .start = (double)(record->begun_ns - c->from_ns) / 1e9,
							   .end = (double)(end_ns - c->from_ns) / 1e9,
							   .bytes = record->messages * c->frame };
	c->messages += record->messages;
	return 0;
}

static int take_rank(struct collect *c, const struct rank_result *rank, struct error *err)
{
	int rc = 0;

	for (uint32_t w = 0; rank && w < rank->workers; w++) {
		const struct burst_stats *stats = rank->worker[w].bursts;

		for (uint64_t i = stats ? burst_first_kept(stats) : 0; stats && rc == 0 && i < stats->kept; i++) {
			struct burst_record record = stats->record[i % BURST_KEPT];

			burst_in_root(&record, stats, rank);
			rc = take(c, &record, err);
		}
	}
	return rc;
}

static int collect(struct collect *c, struct outcome *outcome, unsigned at, struct error *err)
{
	const struct plan *const plan = outcome->plan;
	struct plan_cursor cursor;
	struct connection one;
	int rc = 0;

	plan_begin(&cursor, plan, PLAN_ALL_HOSTS);
	while (rc == 0 && plan_next(&cursor, &one)) {
		if (one.test)
			break; /* they come test by test */
		rc = outcome_result(outcome, &one, at, &outcome->scratch, err);
		if (rc == 0)
			rc = take_rank(c, result_sender(&outcome->scratch), err);
		result_release(&outcome->scratch);
	}
	return rc;
}

/* The queue of the second incast, if there is one, had room. */
static bool is_calm(const struct outcome *outcome, unsigned at)
{
	const struct outcome_test *other;

	if (outcome->plan->tests < 2)
		return false;
	other = outcome_test(outcome, at, 1);
	return !knee_tells(other->lost, other->sent);
}

static int add_point(struct knee *knee, struct outcome *outcome, unsigned at, struct error *err)
{
	const struct outcome_test *const test = outcome_test(outcome, at, 0);
	struct knee_point point = { .messages = outcome->plan->test[0].sweep.spec[at].burst_size,
				    .sent = test->sent,
				    .lost = test->lost,
				    .calm = is_calm(outcome, at) };
	struct collect c = { .point = &point, .frame = knee->frame };
	int rc = collect(&c, outcome, at, err);

	if (c.messages != point.sent)
		point.count = 0;
	if (rc == 0)
		rc = knee_add(knee, &point, err);
	if (rc)
		free(point.arrival);
	return rc;
}

int plan_knee(struct knee *knee, struct outcome *outcome, struct error *err)
{
	int rc = 0;

	if (!knee->points)
		begin(knee, outcome->plan);
	for (unsigned at = 0; rc == 0 && at < plan_points(outcome->plan); at++) {
		const struct outcome_test *const test = outcome_test(outcome, at, 0);

		if (test->failed)
			continue;
		if (!test->counted)
			return error_set(
				err, -ENODATA,
				"what is lost isn't counted: take -c UDP, UD, or UC with --verb write_imm or send");
		rc = add_point(knee, outcome, at, err);
	}
	return rc;
}
