/* One client as the server's forked child serves it, and how that child asks its parent whether it may. */
#ifndef ORCH_CLIENT_H
#define ORCH_CLIENT_H

#include "base/error.h"

struct serve_conf;

#define CLIENT_HELLO_NS 5000000000LL /* a client that connects has that long to say hello */
#define CLIENT_WORDS    700 /* bytes of a question or an answer, its end (NUL) included */

/*
 * The child's whole life but for its end: hello, leave of the parent, conf->serve(). ask: a SOCK_SEQPACKET socket on
 * which it sends the client's host name and receives "" (serve it) or the sentence for a client that must wait.
 * Takes over fd. Returns the exit status.
 */
int client_serve(const struct serve_conf *conf, int fd, int ask);

#endif
