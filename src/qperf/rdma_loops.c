/* The loops of the RDMA tests: streams, ping-pongs, reads and atomics, every completion checked. */
#include "qperf/rdma_loop.h"

#include "qperf/wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#define QKEY      0x11111111u
#define WCS       32
#define POSTS     16
#define RECEIVE   (UINT64_C(1) << 32) /* in wr_id */
#define SWAP_BASE UINT64_C(0x0123456789abcdef)

static bool is_ud(const struct qperf_rdma *r)
{
	return r->test->type == IBV_QPT_UD;
}

int qperf_rdma_receives(struct qperf_rdma *r, uint32_t n, struct error *err)
{
	struct ibv_sge sge = { .addr = (uintptr_t)r->buf,
			       .length = r->size + (is_ud(r) ? GRH_BYTES : 0),
			       .lkey = r->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = RECEIVE, .sg_list = &sge, .num_sge = 1 }, *bad;
	int rc = 0;

	for (; n && !rc; n--)
		rc = r->srq ? ibv_post_srq_recv(r->srq, &wr, &bad) : ibv_post_recv(r->qp, &wr, &bad);
	return rc ? qperf_rdma_fail(err, rc, "ibv_post_recv") : 0;
}

/* The n-th operation of a test that checks values swaps in this, and expects what the one before it did. */
static uint64_t swap_value(uint64_t n)
{
	return SWAP_BASE + n;
}

static void set_atomic(const struct loop *l, struct ibv_send_wr *wr)
{
	const bool checked = l->r->test->course == COURSE_VERIFY;

	wr->wr.atomic.remote_addr = l->r->peer.vaddr;
	wr->wr.atomic.rkey = l->r->peer.rkey;
	wr->sg_list->length = 8;
	if (!checked)
		return;
	wr->sg_list->addr += 8 * (l->posted % l->r->tx_depth);
	if (l->r->test->op == OP_ADD) {
		wr->wr.atomic.compare_add = 1;
	} else {
		wr->wr.atomic.compare_add = l->posted ? swap_value(l->posted - 1) : 0;
		wr->wr.atomic.swap = swap_value(l->posted);
	}
}

int loop_post(struct loop *l)
{
	static const enum ibv_wr_opcode codes[] = {
		[OP_SEND] = IBV_WR_SEND,
		[OP_WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM,
		[OP_WRITE] = IBV_WR_RDMA_WRITE,
		[OP_READ] = IBV_WR_RDMA_READ,
		[OP_SWAP] = IBV_WR_ATOMIC_CMP_AND_SWP,
		[OP_ADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct qperf_rdma *r = l->r;
	struct ibv_sge sge = { .addr = (uintptr_t)qperf_rdma_data(r), .length = r->size, .lkey = r->mr->lkey };
	struct ibv_send_wr wr = { .wr_id = l->posted & (RECEIVE - 1),
				  .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = codes[r->test->op],
				  .send_flags = IBV_SEND_SIGNALED },
			   *bad;
	int rc;

	if (r->test->op <= OP_WRITE && r->size <= r->inline_max)
		wr.send_flags |= IBV_SEND_INLINE;
	if (r->test->op >= OP_SWAP) {
		set_atomic(l, &wr);
	} else if (is_ud(r)) {
		wr.wr.ud.ah = r->ah;
		wr.wr.ud.remote_qpn = r->peer.qpn;
		wr.wr.ud.remote_qkey = QKEY;
	} else {
		wr.wr.rdma.remote_addr = r->peer.vaddr;
		wr.wr.rdma.rkey = r->peer.rkey;
		wr.qp_type.xrc.remote_srqn = r->peer.srqn;
	}
	rc = ibv_post_send(r->qp, &wr, &bad);
	if (rc)
		return qperf_rdma_fail(l->err, rc, "ibv_post_send");
	l->posted++;
	return 0;
}

/* Posts as many as may be under way, some at a time: a software device does its work inside the call. */
static int post_room(struct loop *l)
{
	int rc = 0;

	for (int n = 0; n < POSTS && rc == 0 && l->posted < l->limit && l->posted - l->sent < l->r->tx_depth; n++)
		rc = loop_post(l);
	return rc;
}

static bool has_room(const struct loop *l)
{
	return l->posted < l->limit && l->posted - l->sent < l->r->tx_depth;
}

void loop_count(struct qperf_count *to, uint32_t bytes)
{
	to->bytes += bytes;
	to->msgs++;
}

static int check_value(struct loop *l)
{
	const uint64_t n = l->verified++, slot = n % l->r->tx_depth;
	const uint64_t expected = l->r->test->op == OP_ADD ? n : n ? swap_value(n - 1) : 0;
	uint64_t got;

	memcpy(&got, qperf_rdma_data(l->r) + 8 * slot, sizeof(got));
	if (got == expected)
		return 0;
	return error_set(l->err, -EBADMSG, "mismatch, sequence %llu, expected %llx, got %llx", (unsigned long long)n,
			 (unsigned long long)expected, (unsigned long long)got);
}

/* What a completion at the sender means for the counts. */
static int book_sent(struct loop *l, bool over)
{
	const uint32_t size = l->r->test->op >= OP_SWAP ? 8 : l->r->size;
	const int rc = l->r->test->course == COURSE_VERIFY ? check_value(l) : 0;

	l->sent++;
	if (over || rc)
		return rc;
	if (l->r->test->op == OP_READ) {
		loop_count(&l->stat->recv, size);
		loop_count(&l->stat->rem_send, size);
	} else {
		loop_count(&l->stat->send, size);
		if (l->r->test->op >= OP_SWAP)
			loop_count(&l->stat->rem_recv, size);
	}
	return 0;
}

static void access_data(const struct qperf_rdma *r)
{
	volatile uint64_t word;

	for (size_t i = 0; i + sizeof(word) <= r->size; i += sizeof(word))
		memcpy((void *)&word, qperf_rdma_data(r) + i, sizeof(word));
}

static int book_received(struct loop *l, bool over)
{
	l->received++;
	if (!over) {
		if (l->run->params.access_recv && l->run->test->uses & PARAM_BIT(PARAM_ACCESS_RECV))
			access_data(l->r);
		loop_count(&l->stat->recv, l->r->size);
	}
	return 0;
}

/* Takes what has completed: how many, or a negative errno. */
int loop_take(struct loop *l, bool over)
{
	struct ibv_wc wc[WCS];
	const int n = ibv_poll_cq(l->r->cq, WCS, wc);
	int rc = n < 0 ? qperf_rdma_fail(l->err, EIO, "ibv_poll_cq") : 0;

	if (n > (int)l->stat->max_cqes && l->run->test->figure != SHOW_LATENCY) /* as qperf */
		l->stat->max_cqes = (uint32_t)n;
	for (int i = 0; i < n && rc == 0; i++) {
		if (wc[i].status != IBV_WC_SUCCESS)
			rc = error_set(l->err, -EIO, "%s failed: %s", l->r->test->name,
				       ibv_wc_status_str(wc[i].status));
		else
			rc = wc[i].wr_id & RECEIVE ? book_received(l, over) : book_sent(l, over);
	}
	return rc ? rc : n;
}

/* Sleeps until the next completion or tick. */
int loop_rest(struct loop *l)
{
	struct pollfd fd = { .events = POLLIN };
	struct ibv_cq *cq;
	void *context;
	int n;

	if (!l->r->channel)
		return 0;
	if (ibv_req_notify_cq(l->r->cq, 0))
		return qperf_rdma_fail(l->err, EIO, "ibv_req_notify_cq");
	n = loop_take(l, l->run->over);
	if (n)
		return n;
	fd.fd = l->r->channel->fd;
	if (poll(&fd, 1, 10) > 0 && ibv_get_cq_event(l->r->channel, &cq, &context) == 0)
		ibv_ack_cq_events(cq, 1);
	return 0;
}

/* Until at least one completion came: how many, 0 when the test is over or the time has come, negative errno. */
int loop_wait(struct loop *l, int64_t until)
{
	int n = 0;

	while (n == 0 && !qperf_run_over(l->run) && clock_now(l->run->clock) < until) {
		n = loop_take(l, false);
		if (n == 0)
			n = loop_rest(l);
	}
	return n;
}

static int wait_some(struct loop *l)
{
	return loop_wait(l, INT64_MAX);
}

/* --- streams --- */

static int receive_again(struct loop *l, uint64_t *posted)
{
	const uint32_t n = (uint32_t)(l->received - *posted);

	*posted = l->received;
	return n ? qperf_rdma_receives(l->r, n, l->err) : 0;
}

static bool stream_done(const struct loop *l, bool sends, bool receives)
{
	if (l->limit == UINT64_MAX)
		return false;
	return (!sends || l->sent >= l->limit) && (!receives || l->received >= l->limit);
}

/* With room left it only looks; where messages may be lost it waits for no longer than they may take. */
static int stream_wait(struct loop *l, bool sends)
{
	if (sends && has_room(l) && !qperf_run_over(l->run))
		return loop_take(l, false);
	if (l->limit == UINT64_MAX || !loop_loses(l))
		return wait_some(l);
	return loop_wait(l, clock_now(l->run->clock) + QPERF_STILL_NS);
}

/* Nothing has come for so long that the rest is lost. */
static bool gave_up(const struct loop *l, int64_t heard)
{
	return l->limit != UINT64_MAX && loop_loses(l) && qperf_run_quiet(l->run, heard);
}

static int stream(struct loop *l, bool sends, bool receives)
{
	int64_t heard = clock_now(l->run->clock);
	uint64_t again = 0;

	while (!l->run->over && !stream_done(l, sends, receives)) {
		int n = sends ? post_room(l) : 0;

		if (n == 0)
			n = stream_wait(l, sends);
		if (n < 0)
			return n;
		if (n > 0)
			heard = clock_now(l->run->clock);
		else if (gave_up(l, heard))
			break;
		n = receives ? receive_again(l, &again) : 0;
		if (n < 0)
			return n;
	}
	if (l->limit != UINT64_MAX)
		qperf_run_end_at(l->run, heard);
	return 0;
}

/* Until all that was posted has completed, or the test is over. */
int loop_drain(struct loop *l)
{
	int n = 0;

	while (n >= 0 && l->sent < l->posted && !l->run->over)
		n = wait_some(l);
	return n < 0 ? n : 0;
}

/* --- one end alone --- */

static int alone_one(struct loop *l)
{
	int rc = 0;

	l->run->whole = true;
	while (rc >= 0 && l->sent < l->limit && !qperf_run_over(l->run)) {
		const int64_t begun = clock_now(l->run->clock);

		rc = loop_post(l);
		while (rc >= 0 && l->sent < l->posted && !l->run->over)
			rc = wait_some(l);
		if (rc > 0 && l->run->hist)
			hist_record(l->run->hist, (uint64_t)(clock_now(l->run->clock) - begun));
	}
	return rc < 0 ? rc : 0;
}

/* The server of a one-sided test: its device answers; it waits for the end, by count for the client's word. */
static int idle(struct loop *l)
{
	struct pollfd fd = { .fd = l->limit == UINT64_MAX ? -1 : l->run->channel->fd, .events = POLLIN };

	while (!qperf_run_over(l->run))
		if (poll(&fd, 1, 10) > 0)
			break;
	return 0;
}

/* By count only the client knows the end: it says so before the server's results, not after. */
static int tell_end(struct loop *l, int rc)
{
	if (rc || l->limit == UINT64_MAX)
		return rc;
	l->run->told_end = true;
	return qperf_send_text(l->run->channel, AFTER_TEST, l->err);
}

int qperf_rdma_carry(struct qperf_rdma *r, struct error *err)
{
	const bool sends = qperf_run_sends(r->run), client = r->run->client;
	struct loop l = { .r = r,
			  .run = r->run,
			  .stat = &r->run->stat,
			  .limit = r->run->params.no_msgs ? r->run->params.no_msgs : UINT64_MAX,
			  .err = err };

	switch (r->test->course) {
	case COURSE_STREAM:
		return stream(&l, sends, !sends);
	case COURSE_BOTH:
		return stream(&l, true, true);
	case COURSE_PINGPONG:
		return sends ? loop_ping(&l) : loop_pong(&l);
	case COURSE_POLL:
		return loop_marks(&l);
	case COURSE_ALONE:
	case COURSE_VERIFY:
		return client ? tell_end(&l, stream(&l, true, false)) : idle(&l);
	case COURSE_ALONE_ONE:
		return client ? tell_end(&l, alone_one(&l)) : idle(&l);
	}
	return 0;
}
