/* The server's listening socket. */
#ifndef ORCH_LISTEN_H
#define ORCH_LISTEN_H

#include "base/error.h"

struct request;

/*
 * Listens on request->bind (all addresses of both families when empty) and control_port (0 = one that is free). The
 * socket is non-blocking. -EADDRINUSE and the like come with a sentence that says which option to change.
 */
int listen_open(const struct request *request, int *ret_fd, unsigned *ret_port, struct error *err);

#endif
