/* Messages over the MPI plug-in: single ones that nobody waits for, and the parcels of a collective call. */
#include "orch/parcel.h"

#include "base/clock.h"
#include "orch/mpi_link.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#define SPIN_NS    1000000LL /* nothing came for so long: asleep from now on */
#define SLEEP_PART 8 /* of the time since something came */
#define SLEEP_MIN  1000000LL
#define SLEEP_MAX  20000000LL

struct letter {
	struct letter *next;
	void *request;
	struct buf data;
};

static int mpi_fail(const char *text, struct error *err)
{
	return error_set(err, -EIO, "MPI: %s", text);
}

int post_send_away(struct post *post, unsigned to, int tag, struct buf *data, struct error *err)
{
	struct letter *letter = calloc(1, sizeof(*letter));
	char text[MPI_LINK_TEXT] = "";

	if (!letter || data->failed) {
		free(letter);
		buf_release(data);
		return error_set(err, -ENOMEM, "no memory for a message to another rank");
	}
	letter->data = *data;
	*data = (struct buf)BUF_INIT;
	if (post->link->send((int)to, tag, letter->data.data, letter->data.len, &letter->request, text) < 0) {
		buf_release(&letter->data);
		free(letter);
		return mpi_fail(text, err);
	}
	letter->next = post->away;
	post->away = letter;
	return 0;
}

int post_reap(struct post *post, struct error *err)
{
	struct letter **at = &post->away;
	char text[MPI_LINK_TEXT] = "";
	int moved = 0;

	while (*at) {
		struct letter *letter = *at;
		const int done = post->link->done(letter->request, text);

		if (done < 0)
			return mpi_fail(text, err);
		if (!done) /* those behind it are older: some other time */
			break;
		*at = letter->next;
		buf_release(&letter->data);
		free(letter);
		moved = 1;
	}
	return moved;
}

void post_release(struct post *post)
{
	while (post->away) { /* after MPI's end nothing is under way */
		struct letter *letter = post->away;

		post->away = letter->next;
		buf_release(&letter->data);
		free(letter);
	}
}

/* Begins to receive a message that was found, into memory of its length. */
static int begin(const struct mpi_link *link, void *message, size_t len, struct buf *ret, void **request,
		 struct error *err)
{
	char text[MPI_LINK_TEXT] = "";

	buf_release(ret);
	*ret = (struct buf)BUF_INIT;
	if (len > PARCEL_MAX || !(ret->data = malloc(len ? len : 1)))
		return error_set(err, -ENOMEM, "no memory for a message of %zu bytes of another rank", len);
	ret->len = ret->cap = len;
	return link->receive(message, ret->data, len, request, text) < 0 ? mpi_fail(text, err) : 0;
}

int post_look(struct post *post, int tag, unsigned *ret_from, struct buf *ret, struct error *err)
{
	char text[MPI_LINK_TEXT] = "";
	void *message, *request;
	int from, rc;
	size_t len;

	rc = post->link->probe(MPI_LINK_ANY, tag, &from, &len, &message, text);
	if (rc <= 0)
		return rc < 0 ? mpi_fail(text, err) : 0;
	rc = begin(post->link, message, len, ret, &request, err);
	/* Short ones come whole with what announces them. */
	while (rc == 0 && (rc = post->link->done(request, text)) == 0)
		;
	if (rc < 0)
		return err->code ? rc : mpi_fail(text, err);
	*ret_from = (unsigned)from;
	return 1;
}

int parcels_init(struct parcels *p, unsigned size, struct error *err)
{
	*p = (struct parcels){ .size = size,
			       .parcel = calloc(size, sizeof(*p->parcel)),
			       .rank = calloc(size, sizeof(*p->rank)) };
	return p->parcel && p->rank ? 0 : error_set(err, -ENOMEM, "no memory for a call of %u ranks", size);
}

void parcels_reset(struct parcels *p)
{
	for (unsigned i = 0; i < p->ranks; i++)
		p->parcel[p->rank[i]] = (struct parcel){ 0 };
	p->ranks = p->open = 0;
}

void parcels_release(struct parcels *p)
{
	free(p->parcel);
	free(p->rank);
	*p = (struct parcels){ 0 };
}

static struct parcel *parcel_of(struct parcels *p, unsigned rank)
{
	struct parcel *parcel = &p->parcel[rank];

	if (!parcel->out && !parcel->in)
		p->rank[p->ranks++] = rank;
	p->open++;
	return parcel;
}

void parcels_send(struct parcels *p, unsigned to, const struct buf *data)
{
	parcel_of(p, to)->out = data;
}

void parcels_take(struct parcels *p, unsigned from, struct buf *ret)
{
	parcel_of(p, from)->in = ret;
}

static int start_out(const struct mpi_link *link, struct parcels *p, unsigned rank, struct error *err)
{
	struct parcel *parcel = &p->parcel[rank];
	char text[MPI_LINK_TEXT] = "";

	if (!parcel->out || parcel->sending)
		return 0;
	if (link->send((int)rank, p->tag, parcel->out->data, parcel->out->len, &parcel->sending, text) < 0)
		return mpi_fail(text, err);
	return 1;
}

/* Asks for the end of a request: 1 when it has. */
static int test_one(const struct mpi_link *link, struct parcels *p, void *request, bool *ret, struct error *err)
{
	char text[MPI_LINK_TEXT] = "";
	const int rc = link->done(request, text);

	if (rc < 0)
		return mpi_fail(text, err);
	*ret = rc;
	p->open -= (unsigned)rc;
	return rc;
}

/* What has come of this call, from whom ever. */
static int find(const struct mpi_link *link, struct parcels *p, struct error *err)
{
	char text[MPI_LINK_TEXT] = "";
	struct parcel *parcel;
	void *message;
	size_t len;
	int from;
	const int rc = link->probe(MPI_LINK_ANY, p->tag, &from, &len, &message, text);

	if (rc <= 0)
		return rc < 0 ? mpi_fail(text, err) : 0;
	parcel = from >= 0 && (unsigned)from < p->size ? &p->parcel[from] : NULL;
	if (!parcel || !parcel->in || parcel->found)
		return error_set(err, -EPROTO, "rank %d of MPI sent what nobody waits for", from);
	parcel->found = true;
	return begin(link, message, len, parcel->in, &parcel->receiving, err) < 0 ? err->code : 1;
}

/* Looks for ends until one is found that has not come: each look lets MPI work, which costs more the more ranks there are. */
static int test_all(const struct mpi_link *link, struct parcels *p, struct error *err)
{
	int rc = 1, moved = 0;

	for (unsigned i = 0; rc == 1 && i < p->ranks; i++) {
		struct parcel *parcel = &p->parcel[p->rank[i]];

		if (parcel->sending && !parcel->sent)
			moved |= rc = test_one(link, p, parcel->sending, &parcel->sent, err);
		if (rc == 1 && parcel->found && !parcel->taken)
			moved |= rc = test_one(link, p, parcel->receiving, &parcel->taken, err);
	}
	return rc < 0 ? rc : moved;
}

int parcels_move(struct post *post, struct parcels *p, struct error *err)
{
	int rc = 0, moved = 0;

	for (unsigned i = 0; rc >= 0 && i < p->ranks; i++)
		moved |= rc = start_out(post->link, p, p->rank[i], err);
	while (rc >= 0 && p->open && (rc = find(post->link, p, err)) > 0)
		moved = 1;
	if (rc >= 0)
		moved |= rc = test_all(post->link, p, err);
	return rc < 0 ? rc : moved;
}

unsigned parcels_missing(const struct parcels *p)
{
	for (unsigned i = 0; i < p->ranks; i++) {
		const struct parcel *parcel = &p->parcel[p->rank[i]];

		if ((parcel->in && !parcel->taken) || (parcel->out && !parcel->sent))
			return p->rank[i];
	}
	return 0;
}

void rest_between(struct rest *rest, bool moved)
{
	const int64_t now = clock_now(rest->clock), idle = now - rest->moved_ns;
	int64_t sleep = idle / SLEEP_PART;

	if (moved || !rest->moved_ns) {
		rest->moved_ns = now;
		return;
	}
	if (idle < SPIN_NS) {
		sched_yield();
		return;
	}
	sleep = sleep < SLEEP_MIN ? SLEEP_MIN : sleep > SLEEP_MAX ? SLEEP_MAX : sleep;
	if (rest->deadline_ns && sleep > rest->deadline_ns - now)
		sleep = rest->deadline_ns - now;
	if (sleep > 0)
		ppoll(NULL, 0, &(struct timespec){ .tv_nsec = sleep }, NULL);
}
