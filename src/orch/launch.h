/* Reaching the server: connect to one that listens, or start one (directly on this machine, by ssh elsewhere). */
#ifndef ORCH_LAUNCH_H
#define ORCH_LAUNCH_H

#include "base/error.h"
#include "spec/spec.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct clock;
struct comm;
struct launch; /* a server process that we started; it dies with us */

/*
 * Connects to request->host: an already listening server on control_port is used, else one is started (unless
 * launch_server is off) and its readiness is read from its stdout. Deadline: connect_timeout. Sentences name the host
 * and what to do: unresolvable name, refused key, unknown host key, missing executable, wrong version, nothing
 * listening, time-out. launch is NULL in *ret_launch when a listening server was used. -EINTR within 200 ms of
 * *interrupted being set (NULL: never), the resolver's time and that for ending what was started (1 s) apart.
 */
int launch_and_connect(const struct request *request, const struct clock *clock, const atomic_int *interrupted,
		       struct comm **ret_comm, struct launch **ret_launch, struct error *err);

/*
 * The started server's end: closes its stdin, waits (at most 1 s, then kills) and gives the last lines it wrote to
 * stderr, for the sentence of a failure. NULL is fine.
 */
void launch_stop(struct launch *launch, struct error *why);

/*
 * What a launched server prints on stdout, as one line without its end, once it listens: "fabperf-ready PROTOCOL
 * VERSION PORT ADDRESS", ADDRESS = where ssh reached this host, or "-". LAUNCH_READY_LINE bytes are enough.
 */
#define LAUNCH_READY_LINE 160
char *launch_ready_line(unsigned port, char *ret, size_t size);

/* Whether a name or address is this machine (one of its own addresses, in this network namespace). */
bool host_is_local(const char *host);

/* --- The server's side (serve.c) --- */

/*
 * Listens on request->bind and control_port and serves clients one after another, each in a forked child that calls
 * serve(comm, context); a client that comes meanwhile is told who is being served. Ends after one client with once,
 * on SIGTERM/SIGINT, or, when launched, as soon as stdin closes. ready() is called with the port once it listens.
 * Random bytes, half-open connections and dying children do not end it. 0, or a negative errno when it cannot listen.
 */
struct serve_conf {
	const struct request *request;
	const struct clock *clock;
	void (*ready)(void *context, unsigned port);
	/* In the child; its return value is the child's exit status. It does not close comm: that is done after it. */
	int (*serve)(struct comm *comm, void *context);
	void (*failed)(void *context, const struct error *err); /* a client that was refused or lost; for the log */
	void *context;
};
int serve(const struct serve_conf *conf, struct error *err);

#endif
