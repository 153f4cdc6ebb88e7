/* A rank's end of the communicator over MPI, and what it sends and hears beside collective calls (private to comm_mpi). */
#ifndef ORCH_COMM_MPI_BESIDE_H
#define ORCH_COMM_MPI_BESIDE_H

#include "orch/beat.h"
#include "orch/comm.h"
#include "orch/parcel.h"

#define NOTES_MAX 4096u

/* Ping-pongs with several ranks at once. */
struct pings {
	struct ping *ping; /* t4 is 0 while it is not answered */
	uint64_t first; /* number of ping[0]; an answer to an older one is no longer waited for */
	unsigned count, open;
};

struct comm_mpi {
	struct comm comm;
	struct post post; /* what is sent and received, by MPI's rank numbers */
	unsigned own; /* MPI's number of this rank */
	unsigned *rank_of, *number_of; /* our rank of MPI's number, and back; NULL: they are the same */
	unsigned calls; /* collective ones so far */
	struct note note[NOTES_MAX]; /* that came and were not taken, a ring */
	unsigned notes, first_note;
	struct pings pings;
	struct beat beat; /* to the next of MPI's numbers, from the one before */
	bool broken; /* a call failed: the ranks do not stand at the same place any more */
};

static inline struct comm_mpi *mpi_of(struct comm *comm)
{
	return (struct comm_mpi *)comm;
}

static inline unsigned number_of(const struct comm_mpi *m, unsigned rank)
{
	return m->number_of ? m->number_of[rank] : rank;
}

static inline unsigned rank_of(const struct comm_mpi *m, unsigned number)
{
	return m->rank_of ? m->rank_of[number] : number;
}

static inline const char *name_of(const struct comm_mpi *m, unsigned number)
{
	return m->comm.names ? m->comm.names[rank_of(m, number)] : "?";
}

static inline int broken(struct comm_mpi *m, int rc)
{
	if (rc < 0)
		m->broken = true;
	return rc;
}

/* Takes and answers what comes, to be called while anything is waited for: 1 when something came. */
int beside_pump(struct comm_mpi *m, struct error *err);
/* The communicator's calls of these names. */
int beside_note(struct comm *comm, const struct note *note, struct error *err);
int beside_tell(struct comm *comm, const struct buf *what, struct error *err);
int beside_wait(struct comm *comm, int64_t timeout_ns, struct note *ret, struct error *err);
int beside_ping(struct comm *comm, const unsigned *rank, unsigned count, struct ping *ret, int64_t deadline_ns,
		struct error *err);
int beside_watch(struct comm *comm, bool on, struct error *err);

#endif
