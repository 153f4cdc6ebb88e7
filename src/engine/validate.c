/* Data validation: fills every message before it is posted and compares every byte of those that arrive. */
#include "driver/seq.h"
#include "engine/engine.h"
#include "engine/pattern.h"

#include <errno.h>
#include <stdlib.h>

#define REACH 65536u /* messages before and behind the next one among which an arrival is looked for */

/* One endpoint. */
struct mark {
	uint64_t sent, arrived;
	const uint8_t *slots; /* where messages arrive, one slot after another */
	struct seq *seq; /* where messages may be lost or overtake each other: which have arrived; else NULL */
};

/* The driver as the engine sees it, which fills what it posts and compares what arrives, around the one that moves. */
struct validation {
	struct driver driver;
	const struct driver *real;
	const struct flow *flow;
	struct mark *marks;
	size_t stride, size;
	uint64_t checked, invalid, invalid_bytes;
	bool reliable; /* each message arrives once */
	struct invalid *log;
	uint32_t logged;
};

static struct validation *validation_of(const struct port *port)
{
	return port->owner;
}

static uint64_t key_of(const struct validation *v, uint32_t qp, uint64_t number)
{
	return pattern_key(v->flow->spec->seed, v->flow->index, qp, number);
}

static int fill_and_post(struct ep *ep, unsigned n, unsigned flags)
{
	struct validation *v = validation_of(ep->port);
	struct mark *mark = &v->marks[ep->index];

	for (unsigned i = 0; i < n; i++) {
		uint8_t *slot = v->real->tx_slot(ep);
		int rc = 0;

		if (slot) {
			pattern_fill(slot, v->size, key_of(v, ep->index, mark->sent));
			rc = v->real->post(ep, 1, i + 1 == n ? flags : 0);
		}
		if (rc <= 0)
			return i ? (int)i : rc;
		mark->sent++;
	}
	return (int)n;
}

/* The rest of a message that post has filled. */
static int finish(struct ep *ep)
{
	struct validation *v = validation_of(ep->port);
	const int rc = v->real->finish(ep);

	if (rc > 0)
		v->marks[ep->index].sent++;
	return rc;
}

/*
 * Which message it is. Where each arrives once and in order that is known. Else the first bytes tell; where none of the
 * messages near begins so, the next one is expected.
 */
static uint64_t number_of(const struct validation *v, const struct mark *mark, uint32_t qp, const uint8_t *data)
{
	uint64_t next = mark->arrived;

	if (!mark->seq)
		return next;
	next = mark->seq->next;
	for (uint64_t i = 0; i < REACH; i++) {
		if (pattern_begins(data, v->size, key_of(v, qp, next + i)))
			return next + i;
	}
	for (uint64_t i = 1; i <= REACH && i <= next; i++) {
		if (pattern_begins(data, v->size, key_of(v, qp, next - i)))
			return next - i;
	}
	return next;
}

static void keep(struct validation *v, uint32_t qp, uint64_t number, const struct mismatch *m)
{
	v->invalid++;
	v->invalid_bytes += m->bytes;
	if (v->logged == RESULT_INVALIDS)
		return;
	v->log[v->logged++] = (struct invalid){ .worker = v->flow->index,
						.qp = qp,
						.message = number,
						.byte = (uint32_t)m->first,
						.bytes = (uint32_t)m->bytes,
						.expected = m->expected,
						.found = m->found };
}

static void check(struct validation *v, uint32_t qp, const uint8_t *data)
{
	struct mark *mark = &v->marks[qp];
	uint64_t number = number_of(v, mark, qp, data);
	struct mismatch m;

	v->checked++;
	if (mark->seq && !seq_feed(mark->seq, number) && v->reliable)
		number = mark->seq->next; /* an old one once more: not what was due */
	if (!pattern_check(data, v->size, key_of(v, qp, number), &m))
		keep(v, qp, number, &m);
	mark->arrived++;
}

static void check_next(struct validation *v, uint32_t qp)
{
	const struct mark *mark = &v->marks[qp];

	check(v, qp, mark->slots + mark->arrived % v->flow->slots * v->stride);
}

/* Of a driver that shows what arrives. */
static void look(struct ep *ep, const uint8_t *data)
{
	check(validation_of(ep->port), ep->index, data);
}

static int poll_and_check(struct port *port, struct done *done, int max)
{
	struct validation *v = validation_of(port);
	const int n = v->real->poll(port, done, max);

	for (int i = 0; i < n && !port->look; i++) {
		for (uint32_t left = done[i].kind == DONE_RX ? done[i].count : 0; left; left--)
			check_next(v, done[i].ep->index);
	}
	return n;
}

static int open_marks(struct validation *v, struct error *err)
{
	const bool numbered = v->flow->caps.shows || !v->reliable;

	for (uint32_t i = 0; i < v->flow->qps; i++) {
		struct mark *mark = &v->marks[i];

		mark->slots = v->real->rx_slot(v->flow->eps[i].ep);
		if (!mark->slots && !v->flow->caps.shows)
			return error_set(
				err, -EOPNOTSUPP,
				"--validate has no effect with -r %s here: its messages do not lie in memory that "
				"the CPU can read",
				v->real->name);
		mark->seq = !numbered || v->flow->active ? NULL : calloc(1, sizeof(*mark->seq));
		if (!mark->seq && numbered && !v->flow->active)
			return error_set(err, -ENOMEM, "no memory to keep the order of messages");
	}
	return 0;
}

int validate_open(struct flow *flow, struct error *err)
{
	struct validation *v = calloc(1, sizeof(*v));

	if (!v)
		return error_set(err, -ENOMEM, "no memory for data validation");
	flow->validation = v;
	v->flow = flow;
	v->real = flow->drv;
	v->driver = *flow->drv;
	v->driver.post = fill_and_post;
	v->driver.finish = finish;
	v->driver.poll = poll_and_check;
	v->size = flow->spec->size;
	v->reliable = transport_is_reliable((enum transport)flow->spec->transport);
	v->stride = ops_stride(flow->spec, flow->caps.stride_align);
	v->marks = calloc(flow->qps, sizeof(*v->marks));
	v->log = calloc(RESULT_INVALIDS, sizeof(*v->log));
	if (!v->marks || !v->log)
		return error_set(err, -ENOMEM, "no memory for data validation");
	flow->drv = &v->driver;
	flow->port->owner = v;
	flow->port->look = flow->caps.shows ? look : NULL;
	return open_marks(v, err);
}

void validate_close(struct flow *flow)
{
	struct validation *v = flow->validation;

	if (!v)
		return;
	for (uint32_t i = 0; v->marks && i < flow->qps; i++)
		free(v->marks[i].seq);
	flow->drv = v->real;
	flow->validation = NULL;
	free(v->marks);
	free(v->log);
	free(v);
}

static void collect_order(const struct validation *v, struct worker_result *r)
{
	for (uint32_t i = 0; i < v->flow->qps; i++) {
		const struct seq *seq = v->marks[i].seq;

		if (!seq || v->reliable)
			return;
		r->has_loss = true;
		r->lost += seq->lost;
		r->duplicated += seq->duplicated;
		r->total_received -= seq->duplicated; /* a message that arrives twice is received once */
		r->reordered += seq->reordered;
	}
}

int validate_collect(const struct flow *flow, struct rank_result *rank)
{
	const struct validation *v = flow->validation;
	struct worker_result *r = flow->result;

	if (!v || flow->active)
		return 0;
	r->validated = v->checked;
	r->invalid = v->invalid;
	r->invalid_bytes = v->invalid_bytes;
	collect_order(v, r);
	return rank_result_log(rank, v->log, v->logged);
}
