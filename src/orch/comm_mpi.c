/* The communicator of many ranks over the MPI plug-in: collective calls of single messages, each wait with a deadline. */
#include "orch/comm_mpi.h"

#include "base/clock.h"
#include "base/net.h"
#include "base/units.h"
#include "orch/comm_mpi_beside.h"
#include "orch/mpi_link.h"

#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define TAG_PARTS 64
#define TAGS      8192u /* collective calls whose messages cannot be taken for another's */
#define CLOSE_NS  5000000000LL /* for all ranks to come to the end */

/* Sends and takes all parcels of a collective call, and serves what comes meanwhile. */
static int carry(struct comm_mpi *m, struct parcels *p, int64_t deadline_ns, struct error *err)
{
	struct rest rest = { .clock = m->comm.clock };
	int rc;

	p->tag = TAG_PARTS + (int)(m->calls++ % TAGS);
	while ((rc = parcels_move(&m->post, p, err)) == 0 || rc > 0) {
		if (parcels_done(p))
			return 0;
		int served = beside_pump(m, err);

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

/* Open MPI has no setting for it: each TCP socket that this process has is MPI's, as no test has begun. */
static int mpi_mark(struct comm *comm, unsigned traffic_class, struct error *err)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned marked = 0;
	int rc = dir ? 0 : -errno;

	(void)comm;
	for (const struct dirent *entry; rc == 0 && (entry = readdir(dir));) {
		int protocol = 0;
		socklen_t len = sizeof(protocol);
		uint64_t fd;

		if (units_parse_int(entry->d_name, &fd, NULL) < 0 ||
		    getsockopt((int)fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) < 0 || protocol != IPPROTO_TCP)
			continue;
		rc = net_set_class((int)fd, traffic_class);
		marked++;
	}
	if (dir)
		closedir(dir);
	if (rc == 0 && !marked)
		rc = -ENOTCONN;
	return rc < 0 ? error_sys(err, rc, "cannot set the traffic class of MPI's connections") : 0;
}

static const struct comm_ops mpi_ops = {
	.bcast = mpi_bcast,
	.gather = mpi_gather,
	.exchange = mpi_exchange,
	.note = beside_note,
	.tell = beside_tell,
	.wait = beside_wait,
	.ping = beside_ping,
	.watch = beside_watch,
	.mark = mpi_mark,
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
