/* The loops of the socket tests: streams and datagrams, one way and ping-pong. */
#include "qperf/socket.h"

#include "driver/seq.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK  (64u << 10) /* a stream's receiver takes, and sleeps for, so much at once; more would move the window */
#define WIDE   8u /* bytes of a datagram's number where there is room, */
#define NARROW 4u /* else these; in smaller ones one */

/* A call got nothing: 0 when that may pass, else the test is over. */
static bool passes(struct qperf_stream *l)
{
	return errno == EAGAIN || errno == EINTR || errno == ENOBUFS || (l->run->test->family == FAMILY_RDS);
}

/* What touches the data keeps the compiler from leaving it out. */
static void access_data(const uint8_t *data, size_t len)
{
	volatile uint64_t word;

	for (size_t i = 0; i + sizeof(word) <= len; i += sizeof(word))
		memcpy((void *)&word, data + i, sizeof(word));
}

/* The other end has closed: it has ended, or it has died, which the control connection will tell. */
static void closed(struct qperf_stream *l)
{
	l->run->over = true;
	qperf_stat_end(&l->run->stat, l->run->clock);
}

static bool by_count(const struct qperf_stream *l)
{
	return l->limit != UINT64_MAX;
}

/*
 * A message went out, so the round trip before it is whole; now, when the next began. What is noted is noted here, while
 * the other end is at work, and not between its answer and the next message.
 */
static int64_t trip_end(const struct qperf_stream *l, int64_t begun, bool answered)
{
	const int64_t now = clock_now(l->run->clock);

	if (l->run->hist && answered)
		hist_record(l->run->hist, (uint64_t)(now - begun));
	return now;
}

static bool is_datagram(const struct qperf_stream *l)
{
	return l->run->test->family == FAMILY_UDP || l->run->test->family == FAMILY_RDS;
}

/* --- streams --- */

/* Sends or receives the rest of one message: false when the test is over before. */
static bool whole_send(struct qperf_stream *l)
{
	size_t done = 0;

	while (done < l->size) {
		const ssize_t n = send(l->fd, l->buf + done, l->size - done, l->flags);

		if (n < 0 && !passes(l)) {
			closed(l);
			return false;
		}
		done += n > 0 ? (size_t)n : 0;
		l->run->stat.send.bytes += n > 0 ? (uint64_t)n : 0;
		if (done < l->size && qperf_run_over(l->run))
			return false;
	}
	l->run->stat.send.msgs++;
	return true;
}

static bool whole_recv(struct qperf_stream *l)
{
	size_t done = 0;

	while (done < l->size) {
		const ssize_t n = recv(l->fd, l->buf + done, l->size - done, l->flags);

		if (n == 0 || (n < 0 && !passes(l))) {
			closed(l);
			return false;
		}
		done += n > 0 ? (size_t)n : 0;
		if (qperf_run_over(l->run))
			return false;
		l->run->stat.recv.bytes += n > 0 ? (uint64_t)n : 0;
	}
	l->run->stat.recv.msgs++;
	return true;
}

static void stream_send(struct qperf_stream *l)
{
	while (l->run->stat.send.msgs < l->limit && !qperf_run_over(l->run) && whole_send(l))
		;
}

/* Several segments wake a receiver once. What is less is taken at the next tick, so by count each is waited for. */
static void sleep_longer(const struct qperf_stream *l)
{
	const int bytes = CHUNK;

	if (l->run->test->family == FAMILY_TCP && !by_count(l))
		setsockopt(l->fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof(bytes));
}

static void stream_recv(struct qperf_stream *l)
{
	struct qperf_count *count = &l->run->stat.recv;
	const size_t chunk = l->size > CHUNK ? l->size : CHUNK;

	sleep_longer(l);
	while (count->msgs < l->limit) {
		const ssize_t n = recv(l->fd, l->buf, chunk, l->flags);

		if (n == 0 || (n < 0 && !passes(l))) {
			closed(l);
			return;
		}
		if (qperf_run_over(l->run))
			return;
		if (n > 0 && l->run->params.access_recv)
			access_data(l->buf, (size_t)n);
		count->bytes += n > 0 ? (uint64_t)n : 0;
		count->msgs = count->bytes / l->size;
	}
}

static void stream_pingpong(struct qperf_stream *l)
{
	const bool first = qperf_run_sends(l->run);
	bool answered = false;
	int64_t begun = clock_now(l->run->clock);

	while (l->run->stat.recv.msgs < l->limit) {
		if (!first && !whole_recv(l))
			return;
		if (!whole_send(l))
			return;
		begun = trip_end(l, begun, answered);
		if (first && !whole_recv(l))
			return;
		answered = true;
	}
	if (first)
		trip_end(l, begun, answered);
}

/* --- datagrams --- */

static uint32_t number_bytes(const struct qperf_stream *l)
{
	return l->size >= WIDE ? WIDE : l->size >= NARROW ? NARROW : 1;
}

static void put_number(struct qperf_stream *l, uint64_t number)
{
	memcpy(l->buf, &number, number_bytes(l));
}

/* The number that arrived, widened by what is expected. */
static uint64_t get_number(const struct qperf_stream *l, uint64_t expected)
{
	const uint64_t wrap = number_bytes(l) == WIDE ? 0 : UINT64_C(1) << 8 * number_bytes(l);
	uint64_t number = 0, near;

	memcpy(&number, l->buf, number_bytes(l));
	if (!wrap)
		return number;
	near = expected - expected % wrap + number;
	if (near > expected + wrap / 2 && near >= wrap)
		near -= wrap;
	else if (near + wrap / 2 < expected)
		near += wrap;
	return near;
}

static void count_send(struct qperf_stream *l, ssize_t n)
{
	struct qperf_count *count = &l->run->stat.send;

	if (n != (ssize_t)l->size) {
		l->failure = n < 0 ? errno : EMSGSIZE;
		count->errs += n >= 0 || !passes(l);
		return;
	}
	count->bytes += l->size;
	count->msgs++;
}

static void datagram_send(struct qperf_stream *l)
{
	struct qperf_count *count = &l->run->stat.send;

	while (count->msgs < l->limit && !qperf_run_over(l->run)) {
		put_number(l, count->msgs);
		count_send(l, send(l->fd, l->buf, l->size, l->flags));
	}
}

/* One that arrived: counted unless it is a second copy. */
static void take_datagram(struct qperf_stream *l, struct seq *seq, size_t len)
{
	struct qperf_count *count = &l->run->stat.recv;

	if (seq && !seq_feed(seq, get_number(l, seq->next)))
		return;
	count->bytes += len;
	count->msgs++;
	count->errs += len != l->size;
	if (l->run->params.access_recv)
		access_data(l->buf, len);
}

/* By count, and nothing has come for so long that nothing will. */
static bool silent(const struct qperf_stream *l, int64_t heard)
{
	return by_count(l) && qperf_run_quiet(l->run, heard);
}

static void datagram_recv(struct qperf_stream *l)
{
	struct seq *seq = l->run->ours && l->size >= NARROW ? calloc(1, sizeof(*seq)) : NULL;
	int64_t heard = clock_now(l->run->clock);

	while (l->run->stat.recv.msgs < l->limit) {
		const ssize_t n = recv(l->fd, l->buf, l->size, l->flags);

		if (qperf_run_over(l->run) || (n <= 0 && silent(l, heard)))
			break;
		if (n <= 0)
			continue;
		take_datagram(l, seq, (size_t)n);
		heard = by_count(l) ? clock_now(l->run->clock) : heard;
	}
	if (by_count(l))
		qperf_run_end_at(l->run, heard);
	if (seq) {
		l->run->stat.lost = seq->lost;
		l->run->stat.duplicated = seq->duplicated;
	}
	free(seq);
}

/* The answer to the datagram of that number: false when it is lost or the test is over. */
static bool await_answer(struct qperf_stream *l, uint64_t number, int64_t until)
{
	struct qperf_count *count = &l->run->stat.recv;

	do {
		const ssize_t n = recv(l->fd, l->buf, l->size, l->flags);

		if (qperf_run_over(l->run))
			return false;
		if (n > 0 && (!l->run->ours || get_number(l, number) == number)) {
			count->bytes += (uint64_t)n;
			count->msgs++;
			return true;
		}
	} while (clock_now(l->run->clock) <= until);
	return false;
}

static void ping(struct qperf_stream *l)
{
	int64_t begun = 0;
	bool answered = false;
	uint64_t lost = 0;

	for (uint64_t number = 0; l->run->stat.recv.msgs < l->limit && !l->run->over; number++) {
		put_number(l, number);
		count_send(l, send(l->fd, l->buf, l->size, l->flags));
		begun = trip_end(l, begun, answered);
		answered = await_answer(l, number, begun + QPERF_LOST_NS);
		lost += !answered && !l->run->over;
	}
	trip_end(l, begun, answered);
	l->run->stat.lost = lost;
}

/* Each message that comes goes back as it is; by count until nothing comes any more. */
static void pong(struct qperf_stream *l)
{
	struct qperf_count *count = &l->run->stat.recv;
	int64_t heard = clock_now(l->run->clock);

	for (;;) {
		const ssize_t n = recv(l->fd, l->buf, l->size, l->flags);

		if (qperf_run_over(l->run))
			return;
		if (n <= 0 && silent(l, heard))
			break;
		if (n <= 0)
			continue;
		heard = by_count(l) ? clock_now(l->run->clock) : heard;
		count->bytes += (uint64_t)n;
		count->msgs++;
		count_send(l, send(l->fd, l->buf, l->size, l->flags));
	}
	qperf_run_end_at(l->run, heard);
}

/* --- all --- */

/* What a ping-pong counts came before its end; a call that waited for more may have slept on. */
static void slept_on(const struct qperf_stream *l)
{
	if (l->run->stat.end[CLOCK_REAL] > qperf_ticks(l->run->end_ns))
		qperf_run_end_at(l->run, l->run->end_ns);
}

static void carry(struct qperf_stream *l)
{
	const bool sends = qperf_run_sends(l->run);

	if (l->run->test->figure == SHOW_LATENCY) {
		if (!is_datagram(l))
			stream_pingpong(l);
		else if (sends)
			ping(l);
		else
			pong(l);
		slept_on(l);
		return;
	}
	if (is_datagram(l))
		(sends ? datagram_send : datagram_recv)(l);
	else
		(sends ? stream_send : stream_recv)(l);
}

/* A server whose client is to send first must know whom to talk to before it can send to it. */
static bool greet(struct qperf_stream *l)
{
	if (l->run->test->family != FAMILY_UDP)
		return true;
	if (l->run->client)
		return !l->run->params.flip || send(l->fd, l->buf, l->size, 0) >= 0;
	return qperf_udp_meet(l->run, l->fd) && (!qperf_run_sends(l->run) || recv(l->fd, l->buf, l->size, 0) >= 0);
}

void qperf_stream_carry(struct qperf_stream *stream)
{
	if (greet(stream))
		carry(stream);
}

int qperf_stream_open(struct qperf_stream *stream, struct qperf_run *run, struct error *err)
{
	const uint64_t most = run->params.no_msgs;
	int rc;

	*stream = (struct qperf_stream){ .run = run,
					 .flags = run->poll ? MSG_DONTWAIT : 0,
					 .size = run->params.msg_size };
	rc = qperf_socket_open(run, &stream->fd, err);
	if (rc)
		return rc;
	stream->limit = most ? most : UINT64_MAX;
	stream->buf = calloc(1, stream->size > CHUNK ? stream->size : CHUNK);
	if (stream->buf)
		return 0;
	close(stream->fd);
	return error_set(err, -ENOMEM, "no memory for a message of %u bytes", stream->size);
}

void qperf_stream_close(struct qperf_stream *stream)
{
	close(stream->fd);
	free(stream->buf);
}
