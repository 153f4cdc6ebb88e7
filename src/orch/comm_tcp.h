/* What the server's side needs of the TCP communicator apart from comm.h: one made from a socket after the hellos. */
#ifndef ORCH_COMM_TCP_H
#define ORCH_COMM_TCP_H

#include "base/error.h"

struct clock;
struct comm;

/* Takes over fd in every case: prepared by hello_prepare(), hellos exchanged. name: the other host's, for sentences. */
int comm_tcp_open(int fd, unsigned rank, const char *name, const struct clock *clock, struct comm **ret,
		  struct error *err);

#endif
