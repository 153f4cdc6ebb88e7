/* What the MPI plug-in offers: messages between ranks that are started, looked for and tested, and never waited for. */
#ifndef ORCH_MPI_LINK_H
#define ORCH_MPI_LINK_H

#include <stddef.h>

/*
 * The plug-in (plugin/mpi.c) alone knows MPI; the executable opens it on demand and starts on a machine without MPI.
 * All functions are called by one thread. They return 0 or more, or -1 with MPI's own words in text (LINK_TEXT bytes).
 */
#define MPI_LINK_VERSION 1u
#define MPI_LINK_SYMBOL  "fabperf_mpi_link"
#define MPI_LINK_TEXT    256
#define MPI_LINK_ANY     (-1)

struct mpi_link {
	unsigned version;
	int (*init)(int *rank, int *size, char *text);
	/* Starts to send; data stays until *ret, the request, is done. */
	int (*send)(int to, int tag, const void *data, size_t len, void **ret, char *text);
	/* 1: a message of this tag has come from a rank (or any): who sent it, its length, and its handle for receive. */
	int (*probe)(int from, int tag, int *ret_from, size_t *ret_len, void **ret, char *text);
	/* Starts to receive what probe found. */
	int (*receive)(void *message, void *data, size_t len, void **ret, char *text);
	/* 1: the request is done, and gone; 0: not yet. */
	int (*done)(void *request, char *text);
	int (*finalize)(char *text); /* all ranks at once */
	void (*end_all)(void); /* ends all ranks */
};

#endif
