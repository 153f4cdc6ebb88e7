/* The communicator of many ranks that mpirun has started: the MPI plug-in is found, opened and used. */
#ifndef ORCH_COMM_MPI_H
#define ORCH_COMM_MPI_H

#include "orch/comm.h"

struct mpi_link;

/*
 * comm_exchange goes to those ranks only for which there is something to send, and takes as much from each: both sides
 * of a pair have something for each other, or neither has. Of all calls only one thread makes any.
 */
int comm_mpi_open(const struct mpi_link *link, const struct clock *clock, struct comm **ret, struct error *err);
/* From here on ranks are what rank_of[] says of MPI's numbers; rank 0 stays number 0. -EPROTO: it is no permutation. */
int comm_mpi_renumber(struct comm *comm, const uint32_t *rank_of, struct error *err);

/* mpi_load.c: the plug-in beside the executable, or where it was installed. -ENOENT and a sentence that says what to do. */
int mpi_load(const struct mpi_link **ret, struct error *err);

#endif
