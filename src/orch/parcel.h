/* Messages over the MPI plug-in: single ones that nobody waits for, and the parcels of a collective call. */
#ifndef ORCH_PARCEL_H
#define ORCH_PARCEL_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct clock;
struct letter;
struct mpi_link;

#define PARCEL_MAX (1u << 30) /* bytes of a message; a rank that announces more is refused */

/* Sends that nobody waits for. */
struct post {
	const struct mpi_link *link;
	struct letter *away; /* under way */
};

/* Takes over data; it goes when it can. */
int post_send_away(struct post *post, unsigned to, int tag, struct buf *data, struct error *err);
int post_reap(struct post *post, struct error *err); /* forgets those that have gone: 1 when one had */
/* A message of this tag from any rank: 1 with its sender and contents, 0 when none has come. */
int post_look(struct post *post, int tag, unsigned *ret_from, struct buf *ret, struct error *err);
void post_release(struct post *post);

/* What one rank sends to, and takes from, others in one collective call; of each rank at most one. */
struct parcel {
	const struct buf *out; /* NULL: nothing for this rank */
	struct buf *in; /* NULL: nothing from this rank */
	void *sending, *receiving; /* requests under way */
	bool sent, found, taken;
};
struct parcels {
	int tag;
	unsigned size, open; /* ranks; parcels that are not done */
	unsigned *rank; /* those with a parcel, so that a call with few of them does not look at all */
	unsigned ranks;
	struct parcel *parcel; /* by rank */
};
int parcels_init(struct parcels *p, unsigned size, struct error *err);
void parcels_reset(struct parcels *p); /* all are done: for another round */
void parcels_release(struct parcels *p);
void parcels_send(struct parcels *p, unsigned to, const struct buf *data); /* data stays until done */
void parcels_take(struct parcels *p, unsigned from, struct buf *ret); /* its contents are replaced */
int parcels_move(struct post *post, struct parcels *p, struct error *err); /* 1: something moved */
static inline bool parcels_done(const struct parcels *p)
{
	return p->open == 0;
}
unsigned parcels_missing(const struct parcels *p); /* a rank that we wait for */

/*
 * Between two looks: none while something moves, then giving way to others, then asleep, the longer the longer nothing
 * came (1 to 20 ms), but not beyond the deadline.
 */
struct rest {
	const struct clock *clock;
	int64_t moved_ns, deadline_ns; /* 0: none */
};
void rest_between(struct rest *rest, bool moved);

#endif
