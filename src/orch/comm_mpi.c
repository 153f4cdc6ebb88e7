/* The communicator of many ranks over the MPI plug-in: collective calls of single messages, each wait with a deadline. */
#include "orch/comm_mpi.h"

#include "base/clock.h"
#include "orch/beat.h"
#include "orch/mpi_link.h"
#include "orch/parcel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum tag { TAG_NOTE = 1, TAG_PING, TAG_PONG, TAG_BEAT, TAG_PARTS = 64 };
#define TAGS      8192u /* collective calls whose messages cannot be taken for another's */
#define CLOSE_NS  5000000000LL /* for all ranks to come to the end */
#define NOTES_MAX 4096u

struct comm_mpi {
	struct comm comm;
	struct post post; /* what is sent and received, by MPI's rank numbers */
	unsigned own; /* MPI's number of this rank */
	unsigned *rank_of, *number_of; /* our rank of MPI's number, and back; NULL: they are the same */
	unsigned calls; /* collective ones so far */
	struct note note[NOTES_MAX]; /* that came and were not taken, a ring */
	unsigned notes, first_note;
	uint64_t ping_number;
	bool answered;
	struct ping pong; /* t2 and t3 of the last answer */
	struct beat beat; /* to the next of MPI's numbers, from the one before */
	bool broken; /* a call failed: the ranks do not stand at the same place any more */
};

static struct comm_mpi *mpi_of(struct comm *comm)
{
	return (struct comm_mpi *)comm;
}

static unsigned number_of(const struct comm_mpi *m, unsigned rank)
{
	return m->number_of ? m->number_of[rank] : rank;
}

static unsigned rank_of(const struct comm_mpi *m, unsigned number)
{
	return m->rank_of ? m->rank_of[number] : number;
}

static int take_note(struct comm_mpi *m, const struct buf *data, struct error *err)
{
	struct note note = { 0 };
	struct cursor c;
	uint32_t kind;

	cursor_init(&c, data->data, data->len);
	kind = cursor_u32(&c);
	note.value = cursor_u64(&c);
	if (c.failed || c.left || kind <= NOTE_NONE || kind > NOTE_STOP)
		return error_set(err, -EPROTO, "a rank sent a malformed note");
	note.kind = (enum note_kind)kind;
	if (m->notes == NOTES_MAX)
		return error_set(err, -ENOBUFS, "more than %u notes of other ranks wait to be taken", NOTES_MAX);
	m->note[(m->first_note + m->notes++) % NOTES_MAX] = note;
	return 0;
}

static int answer_ping(struct comm_mpi *m, unsigned from, const struct buf *data, int64_t arrived, struct error *err)
{
	struct buf pong = BUF_INIT;

	buf_put(&pong, data->data, data->len);
	buf_put_u64(&pong, (uint64_t)arrived);
	buf_put_u64(&pong, (uint64_t)clock_now(m->comm.clock));
	return post_send_away(&m->post, from, TAG_PONG, &pong, err);
}

static void take_pong(struct comm_mpi *m, const struct buf *data)
{
	struct cursor c;
	uint64_t number;

	cursor_init(&c, data->data, data->len);
	number = cursor_u64(&c);
	m->pong.t2 = (int64_t)cursor_u64(&c);
	m->pong.t3 = (int64_t)cursor_u64(&c);
	m->answered = !c.failed && number == m->ping_number; /* else one that we no longer wait for */
}

static const char *name_of(const struct comm_mpi *m, unsigned number)
{
	return m->comm.names ? m->comm.names[rank_of(m, number)] : "?";
}

static int send_beat(struct comm_mpi *m, struct error *err)
{
	struct buf data = BUF_INIT;

	buf_put_u8(&data, m->beat.on);
	return post_send_away(&m->post, (m->own + 1) % m->comm.size, TAG_BEAT, &data, err);
}

static void take_beat(struct comm_mpi *m, const struct buf *data, int64_t now)
{
	struct cursor c;

	cursor_init(&c, data->data, data->len);
	beat_heard(&m->beat, cursor_u8(&c) != 0, now);
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

static int take(struct comm_mpi *m, int tag, unsigned from, const struct buf *data, int64_t now, struct error *err)
{
	if (tag == TAG_PING)
		return answer_ping(m, from, data, now, err);
	if (tag == TAG_NOTE)
		return take_note(m, data, err);
	if (tag == TAG_PONG)
		take_pong(m, data);
	else
		take_beat(m, data, now);
	return 0;
}

/* Takes and answers what comes beside the collective calls: 1 when something came. */
static int pump(struct comm_mpi *m, struct error *err)
{
	static const int tags[] = { TAG_PING, TAG_PONG, TAG_NOTE, TAG_BEAT };
	int moved = post_reap(&m->post, err);

	for (unsigned i = 0; moved >= 0 && i < sizeof(tags) / sizeof(tags[0]); i++) {
		struct buf data = BUF_INIT;
		unsigned from;
		int rc = post_look(&m->post, tags[i], &from, &data, err);
		const int64_t now = clock_now(m->comm.clock);

		if (rc > 0) {
			moved = 1;
			rc = take(m, tags[i], from, &data, now, err);
		}
		moved = rc < 0 ? rc : moved;
		buf_release(&data);
	}
	if (moved >= 0 && keep_beating(m, err) < 0)
		return err->code;
	return moved;
}

static int broken(struct comm_mpi *m, int rc)
{
	if (rc < 0)
		m->broken = true;
	return rc;
}

/* Sends and takes all parcels of a collective call, and serves what comes meanwhile. */
static int carry(struct comm_mpi *m, struct parcels *p, int64_t deadline_ns, struct error *err)
{
	struct rest rest = { .clock = m->comm.clock };
	int rc;

	p->tag = TAG_PARTS + (int)(m->calls++ % TAGS);
	while ((rc = parcels_move(&m->post, p, err)) == 0 || rc > 0) {
		if (parcels_done(p))
			return 0;
		int served = pump(m, err);

		if (served >= 0 && m->comm.meanwhile && m->comm.meanwhile(m->comm.context, err) < 0)
			served = err->code;
		if (served < 0)
			return broken(m, served);
		if (m->comm.interrupted && *m->comm.interrupted)
			return broken(m, error_set(err, -EINTR, "interrupted"));
		if (clock_now(m->comm.clock) > deadline_ns) {
			const unsigned late = parcels_missing(p);

			return broken(m, error_set(err, -ETIMEDOUT, "host '%s' (rank %u) does not answer",
						   name_of(m, late), rank_of(m, late)));
		}
		rest_between(&rest, rc > 0 || served > 0);
	}
	return broken(m, rc);
}

/* Rank 0's data goes down a tree: the rank without its lowest bit is the one above, those with one more bit are below. */
static int mpi_bcast(struct comm *comm, struct buf *data, int64_t deadline_ns, struct error *err)
{
	struct comm_mpi *m = mpi_of(comm);
	struct parcels p;
	int rc = parcels_init(&p, comm->size, err);

	if (rc == 0 && m->own) {
		parcels_take(&p, m->own & (m->own - 1), data);
		rc = carry(m, &p, deadline_ns, err);
		m->calls--; /* both halves are one call */
		parcels_reset(&p);
	}
	for (unsigned bit = 1; rc == 0 && bit < comm->size && !(m->own & bit); bit <<= 1)
		if (m->own + bit < comm->size)
			parcels_send(&p, m->own + bit, data);
	if (rc == 0)
		rc = carry(m, &p, deadline_ns, err);
	parcels_release(&p);
	return rc;
}

static int mpi_gather(struct comm *comm, const struct buf *mine, struct buf *all, int64_t deadline_ns,
		      struct error *err)
{
	struct comm_mpi *m = mpi_of(comm);
	struct parcels p;
	int rc = parcels_init(&p, comm->size, err);

	if (rc < 0)
		return rc;
	if (m->own)
		parcels_send(&p, 0, mine);
	for (unsigned i = 1; !m->own && i < comm->size; i++)
		parcels_take(&p, i, &all[rank_of(m, i)]);
	rc = carry(m, &p, deadline_ns, err);
	parcels_release(&p);
	if (rc < 0 || m->own)
		return rc;
	buf_clear(&all[0]);
	buf_put(&all[0], mine->data, mine->len);
	return all[0].failed ? error_set(err, -ENOMEM, "no memory for %zu bytes of results", mine->len) : 0;
}

static int mpi_exchange(struct comm *comm, const struct buf *to, struct buf *from, int64_t deadline_ns,
			struct error *err)
{
	struct comm_mpi *m = mpi_of(comm);
	struct parcels p;
	int rc = parcels_init(&p, comm->size, err);

	for (unsigned i = 0; rc == 0 && i < comm->size; i++) {
		const unsigned number = number_of(m, i);

		if (number == m->own || !to[i].len)
			continue;
		parcels_send(&p, number, &to[i]);
		parcels_take(&p, number, &from[i]);
	}
	if (rc == 0)
		rc = carry(m, &p, deadline_ns, err);
	parcels_release(&p);
	return rc;
}

static int mpi_note(struct comm *comm, const struct note *note, struct error *err)
{
	struct comm_mpi *m = mpi_of(comm);
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < comm->size; i++) {
		struct buf data = BUF_INIT;

		if (i == m->own)
			continue;
		buf_put_u32(&data, note->kind);
		buf_put_u64(&data, note->value);
		rc = post_send_away(&m->post, i, TAG_NOTE, &data, err);
	}
	return broken(m, rc);
}

static int mpi_wait(struct comm *comm, int64_t timeout_ns, struct note *ret, struct error *err)
{
	struct comm_mpi *m = mpi_of(comm);
	struct rest rest = { .clock = comm->clock, .deadline_ns = clock_now(comm->clock) + timeout_ns };
	int rc;

	while ((rc = pump(m, err)) >= 0 && !m->notes && clock_now(comm->clock) < rest.deadline_ns)
		rest_between(&rest, rc > 0);
	*ret = (struct note){ .kind = NOTE_NONE };
	if (rc >= 0 && m->notes) {
		*ret = m->note[m->first_note];
		m->first_note = (m->first_note + 1) % NOTES_MAX;
		m->notes--;
	}
	return rc < 0 ? broken(m, rc) : 0;
}

static int mpi_ping(struct comm *comm, unsigned rank, struct ping *ret, int64_t deadline_ns, struct error *err)
{
	struct comm_mpi *m = mpi_of(comm);
	struct rest rest = { .clock = comm->clock };
	struct buf data = BUF_INIT;
	int64_t sent;
	int rc;

	buf_put_u64(&data, ++m->ping_number);
	m->answered = false;
	sent = clock_now(comm->clock);
	rc = post_send_away(&m->post, number_of(m, rank), TAG_PING, &data, err);
	while (rc >= 0 && !m->answered) {
		rc = pump(m, err);
		if (rc >= 0 && !m->answered && clock_now(comm->clock) > deadline_ns)
			rc = error_set(err, -ETIMEDOUT, "host '%s' (rank %u) does not answer pings",
				       name_of(m, number_of(m, rank)), rank);
		if (rc >= 0 && !m->answered)
			rest_between(&rest, rc > 0);
	}
	if (rc < 0)
		return broken(m, rc);
	*ret = (struct ping){ .t1 = sent, .t2 = m->pong.t2, .t3 = m->pong.t3, .t4 = clock_now(comm->clock) };
	return 0;
}

static int mpi_watch(struct comm *comm, bool on, struct error *err)
{
	struct comm_mpi *m = mpi_of(comm);

	if (comm->size < 2 || m->beat.on == on)
		return 0;
	m->beat.on = on;
	m->beat.sent_ns = 0;
	return on ? 0 : broken(m, send_beat(m, err)); /* the next call sends the first */
}

/* MPI's own end waits for all ranks without a deadline: so they come to it together, or all are ended. */
static void mpi_close(struct comm *comm)
{
	struct comm_mpi *m = mpi_of(comm);
	const struct error none = { 0 };
	char text[MPI_LINK_TEXT];
	struct error err = { 0 };

	comm->interrupted = NULL;
	if (m->broken || comm_agree(comm, &none, clock_now(comm->clock) + CLOSE_NS, &err) < 0)
		m->post.link->end_all();
	m->post.link->finalize(text);
	post_release(&m->post);
	free(m->rank_of);
	free(m->number_of);
	free(m);
}

static const struct comm_ops mpi_ops = {
	.bcast = mpi_bcast,
	.gather = mpi_gather,
	.exchange = mpi_exchange,
	.note = mpi_note,
	.wait = mpi_wait,
	.ping = mpi_ping,
	.watch = mpi_watch,
	.close = mpi_close,
};

int comm_mpi_open(const struct mpi_link *link, const struct clock *clock, struct comm **ret, struct error *err)
{
	struct comm_mpi *m = calloc(1, sizeof(*m));
	char text[MPI_LINK_TEXT] = "";
	int rank, size;

	if (!m)
		return error_set(err, -ENOMEM, "no memory for the communicator");
	if (link->init(&rank, &size, text) < 0) {
		free(m);
		return error_set(err, -EIO, "MPI does not start: %s", text);
	}
	m->comm = (struct comm){
		.ops = &mpi_ops, .rank = (unsigned)rank, .size = (unsigned)size, .clock = clock, .peer_name = "?"
	};
	m->own = (unsigned)rank;
	m->post.link = link;
	*ret = &m->comm;
	return 0;
}

int comm_mpi_renumber(struct comm *comm, const uint32_t *rank_of, struct error *err)
{
	struct comm_mpi *m = mpi_of(comm);

	free(m->rank_of);
	free(m->number_of);
	m->rank_of = calloc(comm->size, sizeof(*m->rank_of));
	m->number_of = calloc(comm->size, sizeof(*m->number_of));
	if (!m->rank_of || !m->number_of)
		return broken(m, error_set(err, -ENOMEM, "no memory for the ranks' numbers"));
	for (unsigned i = 0; i < comm->size; i++)
		m->number_of[i] = comm->size;
	for (unsigned i = 0; i < comm->size; i++) {
		if (rank_of[i] >= comm->size || m->number_of[rank_of[i]] != comm->size || (!i && rank_of[i]))
			return broken(m, error_set(err, -EPROTO, "the numbers of the ranks cannot be right"));
		m->rank_of[i] = rank_of[i];
		m->number_of[rank_of[i]] = i;
	}
	comm->rank = rank_of[m->own];
	return 0;
}
