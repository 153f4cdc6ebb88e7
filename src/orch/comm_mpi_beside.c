/* What ranks send each other over MPI beside collective calls: notes, pings and their answers, beats. */
#include "orch/comm_mpi_beside.h"

#include "base/clock.h"

#include <errno.h>

#define TAG_BESIDE 1 /* of all of them: one look finds whatever has come */

enum kind { KIND_NOTE = 1, KIND_PING, KIND_PONG, KIND_BEAT, KIND_TOLD };

static int take_note(struct comm_mpi *m, struct cursor *from, struct error *err)
{
	const uint32_t kind = cursor_u32(from);
	const struct note note = { .kind = (enum note_kind)kind, .value = cursor_u64(from) };

	if (from->failed || from->left || kind <= NOTE_NONE || kind > NOTE_STOP)
		return error_set(err, -EPROTO, "a rank sent a malformed note");
	if (m->notes == NOTES_MAX)
		return error_set(err, -ENOBUFS, "more than %u notes of other ranks wait to be taken", NOTES_MAX);
	m->note[(m->first_note + m->notes++) % NOTES_MAX] = note;
	return 0;
}

static int answer_ping(struct comm_mpi *m, unsigned rank, struct cursor *from, int64_t arrived, struct error *err)
{
	struct buf pong = BUF_INIT;

	buf_put_u8(&pong, KIND_PONG);
	buf_put_u64(&pong, cursor_u64(from));
	buf_put_u64(&pong, (uint64_t)arrived);
	buf_put_u64(&pong, (uint64_t)clock_now(m->comm.clock));
	return post_send_away(&m->post, rank, TAG_BESIDE, &pong, err);
}

static void take_pong(struct comm_mpi *m, struct cursor *from, int64_t arrived)
{
	const uint64_t slot = cursor_u64(from) - m->pings.first;
	struct ping *ping = slot < m->pings.count ? &m->pings.ping[slot] : NULL;
	const int64_t t2 = (int64_t)cursor_u64(from), t3 = (int64_t)cursor_u64(from);

	if (from->failed || !ping || ping->t4)
		return; /* one that we no longer wait for */
	ping->t2 = t2;
	ping->t3 = t3;
	ping->t4 = arrived;
	m->pings.open--;
}

static int send_beat(struct comm_mpi *m, struct error *err)
{
	struct buf data = BUF_INIT;

	buf_put_u8(&data, KIND_BEAT);
	buf_put_u8(&data, m->beat.on);
	return post_send_away(&m->post, (m->own + 1) % m->comm.size, TAG_BESIDE, &data, err);
}

/* We are there, and the one before is. */
static int keep_beating(struct comm_mpi *m, struct error *err)
{
	const int64_t now = clock_now(m->comm.clock);
	const unsigned before = (m->own + m->comm.size - 1) % m->comm.size;

	if (beat_missed(&m->beat, now))
		return error_set(err, -ETIMEDOUT, "host '%s' (rank %u) has been silent for %lld s", name_of(m, before),
				 rank_of(m, before), BEAT_SILENT_NS / 1000000000);
	return beat_due(&m->beat, now) ? send_beat(m, err) : 0;
}

static int take(struct comm_mpi *m, unsigned rank, const struct buf *data, int64_t now, struct error *err)
{
	struct cursor from;

	cursor_init(&from, data->data, data->len);
	switch (cursor_u8(&from)) {
	case KIND_PING:
		return answer_ping(m, rank, &from, now, err);
	case KIND_PONG:
		take_pong(m, &from, now);
		return 0;
	case KIND_NOTE:
		return take_note(m, &from, err);
	case KIND_BEAT:
		beat_heard(&m->beat, cursor_u8(&from) != 0, now);
		return 0;
	case KIND_TOLD:
		if (m->comm.told)
			m->comm.told(m->comm.told_context, &from);
		return 0;
	default:
		return error_set(err, -EPROTO, "a rank sent what is no message");
	}
}

int beside_pump(struct comm_mpi *m, struct error *err)
{
	int moved = post_reap(&m->post, err);
	struct buf data = BUF_INIT;
	unsigned rank = 0;
	int rc = moved < 0 ? moved : post_look(&m->post, TAG_BESIDE, &rank, &data, err);
	const int64_t now = clock_now(m->comm.clock);

	if (rc > 0) {
		moved = 1;
		rc = take(m, rank, &data, now, err);
	}
	buf_release(&data);
	if (rc == 0)
		rc = keep_beating(m, err);
	return rc < 0 ? rc : moved;
}

int beside_note(struct comm *comm, const struct note *note, struct error *err)
{
	struct comm_mpi *m = mpi_of(comm);
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < comm->size; i++) {
		struct buf data = BUF_INIT;

		if (i == m->own)
			continue;
		buf_put_u8(&data, KIND_NOTE);
		buf_put_u32(&data, note->kind);
		buf_put_u64(&data, note->value);
		rc = post_send_away(&m->post, i, TAG_BESIDE, &data, err);
	}
	return broken(m, rc);
}

int beside_tell(struct comm *comm, const struct buf *what, struct error *err)
{
	struct comm_mpi *m = mpi_of(comm);
	struct buf data = BUF_INIT;

	buf_put_u8(&data, KIND_TOLD);
	buf_put(&data, what->data, what->len);
	return broken(m, post_send_away(&m->post, number_of(m, 0), TAG_BESIDE, &data, err));
}

int beside_wait(struct comm *comm, int64_t timeout_ns, struct note *ret, struct error *err)
{
	struct comm_mpi *m = mpi_of(comm);
	struct rest rest = { .clock = comm->clock, .deadline_ns = clock_now(comm->clock) + timeout_ns };
	int rc;

	while ((rc = beside_pump(m, err)) >= 0 && !m->notes && clock_now(comm->clock) < rest.deadline_ns)
		rest_between(&rest, rc > 0);
	*ret = (struct note){ .kind = NOTE_NONE };
	if (rc >= 0 && m->notes) {
		*ret = m->note[m->first_note];
		m->first_note = (m->first_note + 1) % NOTES_MAX;
		m->notes--;
	}
	return rc < 0 ? broken(m, rc) : 0;
}

static int send_pings(struct comm_mpi *m, const unsigned *rank, struct error *err)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < m->pings.count; i++) {
		struct buf data = BUF_INIT;

		buf_put_u8(&data, KIND_PING);
		buf_put_u64(&data, m->pings.first + i);
		m->pings.ping[i] = (struct ping){ .t1 = clock_now(m->comm.clock) };
		rc = post_send_away(&m->post, number_of(m, rank[i]), TAG_BESIDE, &data, err);
	}
	return rc;
}

/* Which of the ranks has not answered. */
static unsigned unanswered(const struct pings *pings, const unsigned *rank)
{
	unsigned i = 0;

	while (i + 1 < pings->count && pings->ping[i].t4)
		i++;
	return rank[i];
}

int beside_ping(struct comm *comm, const unsigned *rank, unsigned count, struct ping *ret, int64_t deadline_ns,
		struct error *err)
{
	struct comm_mpi *m = mpi_of(comm);
	struct rest rest = { .clock = comm->clock };
	int rc;

	m->pings =
		(struct pings){ .ping = ret, .first = m->pings.first + m->pings.count, .count = count, .open = count };
	rc = send_pings(m, rank, err);
	while (rc >= 0 && m->pings.open) {
		rc = beside_pump(m, err);
		if (rc >= 0 && m->pings.open && clock_now(comm->clock) > deadline_ns) {
			const unsigned late = unanswered(&m->pings, rank);

			rc = error_set(err, -ETIMEDOUT, "host '%s' (rank %u) does not answer pings",
				       name_of(m, number_of(m, late)), late);
		}
		if (rc >= 0 && m->pings.open)
			rest_between(&rest, rc > 0);
	}
	m->pings.first += m->pings.count;
	m->pings.count = 0; /* what comes late finds no place */
	return rc < 0 ? broken(m, rc) : 0;
}

int beside_watch(struct comm *comm, bool on, struct error *err)
{
	struct comm_mpi *m = mpi_of(comm);

	if (comm->size < 2 || m->beat.on == on)
		return 0;
	m->beat.on = on;
	m->beat.sent_ns = 0;
	return on ? 0 : broken(m, send_beat(m, err)); /* the next call sends the first */
}
