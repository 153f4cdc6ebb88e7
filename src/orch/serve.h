/* The parts of the server that serve.c puts together: its listening socket, and one client as a forked child serves it. */
#ifndef ORCH_SERVE_H
#define ORCH_SERVE_H

#include "base/error.h"

struct request;
struct serve_conf;

/* --- listen.c --- */

/*
 * Listens on request->bind (all addresses of both families when empty) and control_port (0 = one that is free). The
 * socket is non-blocking. -EADDRINUSE and the like come with a sentence that says which option to change.
 */
int listen_open(const struct request *request, int *ret_fd, unsigned *ret_port, struct error *err);

/* --- client.c --- */

#define CLIENT_HELLO_NS 5000000000LL /* a client that connects has that long to say hello */
#define CLIENT_WORDS    700 /* bytes of a question or an answer, its end (NUL) included */

/*
 * The child's whole life but for its end: hello, leave of the parent, conf->serve(). ask: a SOCK_SEQPACKET socket on
 * which it sends the client's host name and receives "" (serve it) or the sentence for a client that must wait.
 * Takes over fd. Returns the exit status.
 */
int client_serve(const struct serve_conf *conf, int fd, int ask);

#endif
