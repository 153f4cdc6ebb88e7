/* The RDMA ping-pongs: messages and their answers one at a time, by completions or by looking at the memory. */
#include "qperf/rdma_loop.h"

#include <stdatomic.h>

/* Until the next message arrived: 1, 0 when it is lost or the test is over, negative errno. */
static int await_message(struct loop *l, uint64_t received, int64_t until)
{
	while (l->received < received || l->sent < l->posted) {
		int n;

		if (qperf_run_over(l->run))
			return 0;
		n = loop_take(l, false);
		if (n == 0)
			n = loop_rest(l);
		if (n < 0)
			return n;
		if (l->received < received && clock_now(l->run->clock) > until)
			return 0;
	}
	return 1;
}

int loop_ping(struct loop *l)
{
	uint64_t lost = 0;
	int rc = 0;

	while (rc >= 0 && l->received < l->limit && !qperf_run_over(l->run)) {
		const int64_t begun = clock_now(l->run->clock);

		rc = loop_post(l);
		if (rc == 0)
			rc = await_message(l, l->received + 1, loop_loses(l) ? begun + QPERF_LOST_NS : INT64_MAX);
		if (rc > 0 && l->run->hist)
			hist_record(l->run->hist, (uint64_t)(clock_now(l->run->clock) - begun));
		lost += rc == 0 && !l->run->over;
		if (rc > 0)
			rc = qperf_rdma_receives(l->r, 1, l->err);
	}
	if (loop_loses(l))
		l->stat->lost = lost;
	return rc < 0 ? rc : 0;
}

static int answer_message(struct loop *l, int64_t until)
{
	int rc = await_message(l, l->received + 1, until);

	if (rc <= 0)
		return rc;
	rc = qperf_rdma_receives(l->r, 1, l->err);
	if (rc == 0)
		rc = loop_post(l);
	return rc < 0 ? rc : 1;
}

/* Each message is answered; by count, where an answer may be lost, until nothing comes any more. */
int loop_pong(struct loop *l)
{
	const bool quiet = l->limit != UINT64_MAX && loop_loses(l);
	int64_t heard = clock_now(l->run->clock);
	int rc = 0;

	while (rc >= 0 && (quiet || l->received < l->limit) && !qperf_run_over(l->run)) {
		rc = answer_message(l, quiet ? clock_now(l->run->clock) + QPERF_STILL_NS : INT64_MAX);
		if (rc > 0)
			heard = clock_now(l->run->clock);
		else if (quiet && qperf_run_quiet(l->run, heard))
			break;
	}
	if (quiet)
		qperf_run_end_at(l->run, heard);
	return rc < 0 ? rc : loop_drain(l);
}

/* --- writes into memory that is polled --- */

static bool arrived(const struct loop *l, uint8_t mark)
{
	const volatile uint8_t *data = qperf_rdma_data(l->r);

	return data[0] == mark && data[l->r->size - 1] == mark;
}

static int write_mark(struct loop *l, uint8_t mark)
{
	uint8_t *data = qperf_rdma_data(l->r);

	data[0] = data[l->r->size - 1] = mark;
	atomic_thread_fence(memory_order_seq_cst);
	return loop_post(l);
}

static int reap(struct loop *l)
{
	int n = 0;

	while (n >= 0 && l->posted - l->sent >= l->r->tx_depth && !qperf_run_over(l->run))
		n = loop_take(l, false);
	return n < 0 ? n : 0;
}

/* The peer's mark is here: counts it, and answers unless it was the last one. 1 = the test is done. */
static int answer(struct loop *l, uint8_t own)
{
	const bool done = l->stat->recv.msgs + 1 >= l->limit;
	int rc;

	loop_count(&l->stat->recv, l->r->size);
	if (l->run->client && done)
		return 1;
	rc = write_mark(l, own);
	if (rc == 0)
		rc = reap(l);
	return rc ? rc : done;
}

int loop_marks(struct loop *l)
{
	const bool first = l->run->client;
	const uint8_t own = first ? 0x55 : 0xaa, peers = first ? 0xaa : 0x55;
	int rc = first ? write_mark(l, own) : 0;
	int64_t begun = clock_now(l->run->clock);

	while (rc == 0 && !qperf_run_over(l->run)) {
		if (!arrived(l, peers)) {
			rc = loop_take(l, false) < 0 ? l->err->code : 0;
			continue;
		}
		if (l->run->hist)
			hist_record(l->run->hist, (uint64_t)(clock_now(l->run->clock) - begun));
		begun = clock_now(l->run->clock);
		rc = answer(l, own);
	}
	return rc < 0 ? rc : loop_drain(l);
}
