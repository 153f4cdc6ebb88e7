/*
 * The communicator: how the ranks of a run talk to each other apart from the traffic. Rank 0 holds the plan and prints;
 * nothing above this interface knows a client from a server. Every call has a deadline (ns of the rank's clock) and
 * fails with one sentence that names the rank (its host) which is missing.
 */
#ifndef ORCH_COMM_H
#define ORCH_COMM_H

#include "base/buf.h"
#include "base/error.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct clock;
struct comm;
struct patience;

/* A message outside the collective calls, while the traffic runs. */
enum note_kind {
	NOTE_NONE, /* nothing came in time */
	NOTE_LIVE, /* value = messages counted so far by the sender of the note */
	NOTE_DONE, /* the rank's own active workers have ended */
	NOTE_FINISH, /* rank 0: everybody is done, passive workers may end */
	NOTE_STOP, /* end the traffic now and report what was measured (Ctrl-C) */
};

struct note {
	enum note_kind kind;
	uint64_t value;
};

/* Four instants of one exchange: t1 sent, t2 arrived there, t3 answered there, t4 back here (t1, t4: our clock, ns). */
struct ping {
	int64_t t1, t2, t3, t4;
};

struct comm_ops {
	int (*bcast)(struct comm *comm, struct buf *data, int64_t deadline_ns, struct error *err);
	int (*gather)(struct comm *comm, const struct buf *mine, struct buf *all, int64_t deadline_ns,
		      struct error *err);
	int (*exchange)(struct comm *comm, const struct buf *to, struct buf *from, int64_t deadline_ns,
			struct error *err);
	int (*note)(struct comm *comm, const struct note *note, struct error *err);
	int (*tell)(struct comm *comm, const struct buf *what, struct error *err); /* many ranks */
	int (*wait)(struct comm *comm, int64_t timeout_ns, struct note *ret, struct error *err);
	int (*ping)(struct comm *comm, const unsigned *rank, unsigned count, struct ping *ret, int64_t deadline_ns,
		    struct error *err);
	int (*watch)(struct comm *comm, bool on, struct error *err); /* NULL: it always does */
	int (*mark)(struct comm *comm, unsigned traffic_class, struct error *err); /* NULL: its transport takes none */
	void (*close)(struct comm *comm);
};

/* Embedded by each communicator. */
struct comm {
	const struct comm_ops *ops;
	unsigned rank, size;
	const struct clock *clock;
	const atomic_int *gone; /* two ranks: set when the other one is lost, for waits elsewhere; else NULL */
	const atomic_int *interrupted; /* while not NULL and set, a wait for other ranks ends with -EINTR */
	/* Many ranks: NULL, or done again and again while a collective call waits; notes may be sent and taken in it. */
	int (*meanwhile)(void *context, struct error *err);
	void *context;
	/* Many ranks, rank 0: what another rank told (comm_tell); called by whatever call takes it. NULL: nothing is heard. */
	void (*told)(void *context, struct cursor *from);
	void *told_context;
	struct sockaddr_storage local,
		remote; /* this end and the other one's (rank 0's) address, for data connections */
	char peer_name[200]; /* how the user knows the other side, for sentences */
	const char *const *names; /* of all ranks, where there are more than two; NULL before they are known */
};

/* Rank 0's data replaces everybody's. */
static inline int comm_bcast(struct comm *comm, struct buf *data, int64_t deadline_ns, struct error *err)
{
	return comm->ops->bcast(comm, data, deadline_ns, err);
}

/* all[size] at rank 0 is filled with each rank's data (all[0] = a copy of mine); at the others all is not touched. */
static inline int comm_gather(struct comm *comm, const struct buf *mine, struct buf *all, int64_t deadline_ns,
			      struct error *err)
{
	return comm->ops->gather(comm, mine, all, deadline_ns, err);
}

/*
 * Sends to[r] to each rank r != ours and fills from[r] with what r sent us. Both arrays have size entries. With more than
 * two ranks (comm_mpi.h) those that have nothing for each other leave it out.
 */
static inline int comm_exchange(struct comm *comm, const struct buf *to, struct buf *from, int64_t deadline_ns,
				struct error *err)
{
	return comm->ops->exchange(comm, to, from, deadline_ns, err);
}

/* Sends a note to all other ranks; does not wait. */
static inline int comm_note(struct comm *comm, const struct note *note, struct error *err)
{
	return comm->ops->note(comm, note, err);
}

/* Many ranks, not rank 0: tells rank 0 alone, which may hear it at any time; does not wait. */
static inline int comm_tell(struct comm *comm, const struct buf *what, struct error *err)
{
	return comm->ops->tell(comm, what, err);
}

/* The next note, at the latest after timeout_ns (kind NOTE_NONE then). A dead or silent rank (named within 5 s) is an error. */
static inline int comm_wait(struct comm *comm, int64_t timeout_ns, struct note *ret, struct error *err)
{
	return comm->ops->wait(comm, timeout_ns, ret, err);
}

/* One ping-pong of clocks with each of `count` ranks, all at once; between two ranks there is but one to ask. */
static inline int comm_ping(struct comm *comm, const unsigned *rank, unsigned count, struct ping *ret,
			    int64_t deadline_ns, struct error *err)
{
	return comm->ops->ping(comm, rank, count, ret, deadline_ns, err);
}

/*
 * All ranks, at the same place: from here on, or no longer, one that is stopped or cut off is named within some seconds in any
 * call. Meanwhile no rank may stay out of the communicator for that long.
 */
static inline int comm_watch(struct comm *comm, bool on, struct error *err)
{
	return comm->ops->watch ? comm->ops->watch(comm, on, err) : 0;
}

/* What this rank sends to the others, its clock's answers included, goes out in this traffic class. */
static inline int comm_mark(struct comm *comm, unsigned traffic_class, struct error *err)
{
	if (!comm->ops->mark)
		return error_set(err, -EOPNOTSUPP, "this control connection has no traffic classes");
	return comm->ops->mark(comm, traffic_class, err);
}

static inline void comm_close(struct comm *comm)
{
	if (comm)
		comm->ops->close(comm);
}

/*
 * A barrier that also agrees on failure (agree.c, over gather and bcast): 0 when every rank came with mine->code == 0,
 * else the code of the lowest failing rank, its sentence in err, the same at all ranks. A time-out or a refused or broken
 * connection gives way to a higher rank's failure of another kind: it is likely that one's consequence.
 */
int comm_agree(struct comm *comm, const struct error *mine, int64_t deadline_ns, struct error *err);
/* Everybody's parts at all ranks, in ret one behind the other by rank (agree.c). */
int comm_allgather(struct comm *comm, const struct buf *mine, struct buf *ret, int64_t deadline_ns, struct error *err);
/* One sentence of all that failed, each with its name; mere consequences of another's failure only when there is nothing else. */
void comm_join_errors(const struct error *all, const char *const *names, unsigned count, struct error *ret);
/* A rank that only met another's silence or refusal does not know why. */
bool comm_consequence(const struct error *error);

/* --- Two ranks joined by one TCP connection (comm_tcp.c): rank 0 = client, rank 1 = server. --- */

#define COMM_PROTOCOL   2u /* version of the control protocol; both sides must have the same */
#define COMM_MAX_FRAME  (16u << 20) /* bytes of one frame's payload; more is refused */
#define COMM_SILENCE_NS 3500000000LL /* nothing heard for so long: the peer is dead, and named within 5 s in all */
#define COMM_BEAT_NS    1000000000LL

/*
 * Client: the connection is made (fd, connected, blocking or not); says hello and waits for the server's. -EPROTO: not
 * a fabperf server or another version; -EBUSY: it serves another client (the caller may try again); -ETIMEDOUT; -EINTR.
 * Takes over fd in every case. name: how the user calls the server.
 */
int comm_tcp_client(int fd, const char *name, const struct patience *until, struct comm **ret, struct error *err);
/*
 * Either side, once the hellos are exchanged on the socket, which hello_prepare() made ready. Takes over fd in every
 * case. name: the other host's, for sentences.
 */
int comm_tcp_open(int fd, unsigned rank, const char *name, const struct clock *clock, struct comm **ret,
		  struct error *err);

#endif
