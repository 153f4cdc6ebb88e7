/* Keeps the clocks of all ranks: rank 0 pings each, tells all what it found, and has pairs of others check it. */
#include "orch/clocks.h"

#include "base/buf.h"
#include "orch/comm.h"

#include <errno.h>
#include <stdlib.h>

#define CLOSURE_PAIRS  32u
#define CLOSURE_PASSES 3u
#define FAR_NS         (INT64_C(1) << 60) /* no instant or difference of two is as large */

int clocks_init(struct clocks *ret, unsigned ranks, struct error *err)
{
	*ret = (struct clocks){ .ranks = ranks,
				.fit = calloc(ranks, sizeof(*ret->fit)),
				.shared = calloc(ranks, sizeof(*ret->shared)) };
	return ret->fit && ret->shared ? 0 : error_set(err, -ENOMEM, "no memory for the clocks of %u ranks", ranks);
}

void clocks_release(struct clocks *clocks)
{
	free(clocks->fit);
	free(clocks->shared);
	*clocks = (struct clocks){ 0 };
}

static void pack_offset(const struct clock_offset *offset, struct buf *to)
{
	buf_put_u64(to, (uint64_t)offset->offset_ns);
	buf_put_u64(to, (uint64_t)offset->error_ns);
	buf_put_u64(to, (uint64_t)offset->at_ns);
}

static bool is_near(int64_t ns)
{
	return ns > -FAR_NS && ns < FAR_NS;
}

static int unpack_offset(struct clock_offset *ret, struct cursor *from)
{
	*ret = (struct clock_offset){ 0 };
	ret->offset_ns = (int64_t)cursor_u64(from);
	ret->error_ns = (int64_t)cursor_u64(from);
	ret->at_ns = (int64_t)cursor_u64(from);
	if (!is_near(ret->offset_ns) || !is_near(ret->at_ns) || ret->error_ns < 0 || !is_near(ret->error_ns))
		from->failed = -EPROTO;
	return from->failed;
}

/* Rank 0 asks all others, who answer while they wait for what it tells them. */
static int measure(struct comm *comm, unsigned rounds, struct buf *ret, int64_t deadline_ns, struct error *err)
{
	struct clock_offset *found = calloc(comm->size, sizeof(*found));
	int rc = found ? 0 : error_set(err, -ENOMEM, "no memory for the clocks of %u ranks", comm->size);

	if (rc == 0)
		rc = clocksync_measure_all(comm, 1, comm->size - 1, rounds, found, deadline_ns, err);
	for (unsigned i = 0; rc == 0 && i + 1 < comm->size; i++)
		pack_offset(&found[i], ret);
	free(found);
	return rc;
}

int clocks_sync(struct clocks *clocks, struct comm *comm, unsigned rounds, int64_t deadline_ns, struct error *err)
{
	struct buf data = BUF_INIT;
	struct cursor from;
	int rc = comm->rank ? 0 : measure(comm, rounds, &data, deadline_ns, err);

	if (rc == 0)
		rc = comm_bcast(comm, &data, deadline_ns, err);
	cursor_init(&from, data.data, data.len);
	for (unsigned i = 1; rc == 0 && i < clocks->ranks; i++) {
		struct clock_offset found;

		if (unpack_offset(&found, &from) < 0) {
			rc = error_set(err, -EPROTO, "rank 0 tells clocks that cannot be read");
			break;
		}
		clocks->rtt_ns = 2 * found.error_ns > clocks->rtt_ns ? 2 * found.error_ns : clocks->rtt_ns;
		if (!clock_settle(clocks, &clocks->shared[i], &found))
			clocks->fit[i] = (struct clockfit){ 0 };
		clockfit_add(&clocks->fit[i], &found);
	}
	buf_release(&data);
	return rc;
}

void clocks_at(const struct clocks *clocks, unsigned rank, int64_t root_ns, struct clock_reading *ret)
{
	*ret = (struct clock_reading){ 0 };
	if (rank)
		clockfit_at(&clocks->fit[rank], root_ns, ret);
}

int64_t clocks_own(const struct clocks *clocks, unsigned rank, int64_t root_ns)
{
	struct clock_reading reading;

	clocks_at(clocks, rank, root_ns, &reading);
	return root_ns + reading.offset_ns;
}

/* The offset at nearly the instant in question tells it to a part of a million of what it was off. */
int64_t clocks_root(const struct clocks *clocks, unsigned rank, int64_t own_ns)
{
	const int64_t guess = rank ? own_ns - clocks->fit[rank].point[0].offset_ns : own_ns;
	struct clock_reading reading;

	clocks_at(clocks, rank, guess, &reading);
	return own_ns - reading.offset_ns;
}

/* The same order of the ranks but 0 on all of them, another one in each pass: neighbours in it make a pair. */
static void shuffle(unsigned *rank, unsigned count, unsigned pass)
{
	unsigned random = 12345u + pass;

	for (unsigned i = 0; i < count; i++)
		rank[i] = i + 1;
	for (unsigned i = count; i-- > 1;) {
		unsigned other;

		random = random * 1664525u + 1013904223u;
		other = (random >> 8) % (i + 1);
		const unsigned moved = rank[i];

		rank[i] = rank[other];
		rank[other] = moved;
	}
}

/* The rank that this one asks in a pass; 0: none. */
static unsigned partner(const unsigned *rank, unsigned count, unsigned own)
{
	for (unsigned i = 0; i + 1 < count; i += 2)
		if (rank[i] == own)
			return rank[i + 1];
	return 0;
}

static int ask_partners(const struct clocks *clocks, struct comm *comm, struct buf *ret, int64_t deadline_ns,
			struct error *err)
{
	const unsigned others = clocks->ranks - 1;
	unsigned *rank = calloc(others, sizeof(*rank));
	int rc = rank ? 0 : error_set(err, -ENOMEM, "no memory for %u ranks", others);

	for (unsigned pass = 0; rc == 0 && pass < CLOSURE_PASSES && pass * (others / 2) < CLOSURE_PAIRS; pass++) {
		struct clock_offset found;
		unsigned other;

		shuffle(rank, others, pass);
		other = comm->rank ? partner(rank, others, comm->rank) : 0;
		if (!other)
			continue;
		rc = clocksync_measure(comm, other, 0, &found, deadline_ns, err);
		if (rc < 0)
			break;
		buf_put_u32(ret, other);
		pack_offset(&found, ret);
	}
	free(rank);
	return rc;
}

static int compare(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int judge_pair(struct clocks *clocks, unsigned rank, struct cursor *from, int64_t *ret)
{
	const uint32_t other = cursor_u32(from);
	struct clock_reading mine, theirs;
	struct clock_offset found;
	int64_t root;

	if (unpack_offset(&found, from) < 0 || !other || other >= clocks->ranks || other == rank)
		return -EPROTO;
	root = clocks_root(clocks, rank, found.at_ns);
	clocks_at(clocks, rank, root, &mine);
	clocks_at(clocks, other, root, &theirs);
	*ret = llabs(found.offset_ns - (theirs.offset_ns - mine.offset_ns));
	clocks->closure.outside += *ret > found.error_ns + mine.bound_ns + theirs.bound_ns;
	return 0;
}

static int judge_all(struct clocks *clocks, const struct buf *all, struct error *err)
{
	int64_t *off = calloc((size_t)clocks->ranks * CLOSURE_PASSES, sizeof(*off));
	struct closure *closure = &clocks->closure;
	int rc = off ? 0 : error_set(err, -ENOMEM, "no memory for the clocks of %u ranks", clocks->ranks);

	*closure = (struct closure){ 0 };
	for (unsigned i = 1; rc == 0 && i < clocks->ranks; i++) {
		struct cursor from;

		cursor_init(&from, all[i].data, all[i].len);
		for (unsigned k = 0; rc == 0 && from.left && k < CLOSURE_PASSES; k++)
			if (judge_pair(clocks, i, &from, &off[closure->pairs++]) < 0)
				rc = error_set(err, -EPROTO, "rank %u tells of clocks what cannot be read", i);
	}
	if (rc == 0 && closure->pairs) {
		qsort(off, closure->pairs, sizeof(*off), compare);
		closure->median_ns = off[(closure->pairs - 1) / 2];
		closure->p95_ns = off[(closure->pairs * 95 + 99) / 100 - 1];
		closure->max_ns = off[closure->pairs - 1];
	}
	free(off);
	return rc;
}

int clocks_test(struct clocks *clocks, struct comm *comm, int64_t deadline_ns, struct error *err)
{
	struct buf mine = BUF_INIT, *all;
	int rc;

	if (clocks->ranks < 3)
		return 0;
	all = calloc(clocks->ranks, sizeof(*all));
	rc = all ? ask_partners(clocks, comm, &mine, deadline_ns, err)
		 : error_set(err, -ENOMEM, "no memory for %u ranks", clocks->ranks);
	if (rc == 0)
		rc = comm_gather(comm, &mine, all, deadline_ns, err);
	if (rc == 0 && comm->rank == 0)
		rc = judge_all(clocks, all, err);
	for (unsigned i = 0; all && i < clocks->ranks; i++)
		buf_release(&all[i]);
	free(all);
	buf_release(&mine);
	return rc;
}
