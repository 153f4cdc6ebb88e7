/* The null device: completes by a programmed latency, rate and loss, so that what is reported can be compared with what is true. */
#ifndef DRIVER_NULL_H
#define DRIVER_NULL_H

#include "base/clock.h"
#include "base/lot.h"
#include "driver/driver.h"
#include "driver/seq.h"

extern const struct driver driver_null;

/* Whether message number seq is lost, with the given probability: the same answer on both sides (SplitMix64 of the number). */
bool null_is_lost(uint64_t seed, uint32_t ep, uint64_t seq, double probability);

/*
 * The wire (null_wire.c): tells the passive side which message numbers were sent, over one TCP connection a port, so
 * that the receiver's counting is exercised for real. The connection begins with a token from the passive side's
 * address, so that nobody else is taken for the peer.
 */
#define NULL_RECORDS    64 /* most that are sent or taken at once */
#define NULL_RECORD_MAX (1u << 20) /* messages that one record may stand for */
struct null_record {
	uint32_t ep, count;
	uint64_t first;
};

struct null_wire;
int null_wire_listen(const struct port_conf *conf, struct null_wire **ret, struct error *err);
void null_wire_address(const struct null_wire *wire, struct buf *to);
int null_wire_connect(const struct port_conf *conf, struct cursor *peer, int64_t deadline_ns, struct null_wire **ret,
		      struct error *err); /* active */
int null_wire_accept(struct null_wire *wire, int64_t deadline_ns, struct error *err); /* passive */
void null_wire_close(struct null_wire *wire);
/* Takes records, all of them or none while earlier ones wait for room: their number, or a negative errno. */
int null_wire_send(struct null_wire *wire, const struct null_record *records, int count, struct error *err);
/* Gives the kernel what waits: 1 = nothing waits any more, 0 = the socket is full, negative errno. */
int null_wire_flush(struct null_wire *wire);
/* Takes what is there: number of records, 0 when there is none, negative errno (the other side is gone). */
int null_wire_receive(struct null_wire *wire, struct null_record *ret, int max, struct error *err);

/* --- The device (null.c) and its link (null_link.c) --- */

#define NULL_RUNS 65536u /* posts that may wait for their completion, a power of two */
/*
 * Instants are ns in 51.13 fixed point: they last for 625 hours, a warm-up and a window of the longest, and a rate is
 * exact to 50 ppm where a message takes 1.28 ns (64 bytes at 400 Gbit/s), better below.
 */
#define FRACTION_BITS 13

struct null_ep {
	struct ep base;
	uint8_t *tx, *rx;
	uint64_t next; /* number of the next message to send */
	uint64_t told; /* messages below this number were told to the other side */
	uint64_t due; /* number of the next message that this side will be told of */
	struct seq seq; /* of what arrived */
};

/* Messages of one post that still wait: they complete one after another, `step` apart. */
struct null_run {
	struct null_ep *ep;
	uint32_t count;
	enum done_kind kind;
	uint64_t due; /* of the first, fixed point */
};

struct null_port {
	struct port base;
	const struct port_conf conf;
	int64_t epoch_ns; /* when it was opened: the device's instants count from here */
	bool instant; /* no rate and no latency: a message completes as soon as it is posted */
	bool true_time; /* posts happen when they do: one message is under way at a time, or a schedule says when */
	bool delays; /* this one is held up in some of its posts */
	bool echo; /* latency of a ping-pong: each message is answered by the device */
	bool counts; /* the receiving side is told what was sent, and counts */
	bool tells, told_of; /* counts: this side sends, and receives */
	uint64_t step; /* fixed point: time that one message occupies this port's share of the link */
	uint64_t delay; /* fixed point: the programmed latency */
	double jitter; /* fixed point: mean of the exponential time that a message takes longer on the link */
	struct lot lot; /* of the jitter */
	uint64_t link_free; /* fixed point: when the last accepted message has left */
	uint64_t posts; /* since it was prepared, where some are held up */
	uint64_t back_free; /* the same of the answers' way back */
	uint64_t now; /* fixed point: the device's idea of now, see post_timed */
	unsigned phase; /* that the last post belonged to, see post_timed */
	uint32_t head, tail; /* runs[head ... tail) wait */
	struct null_run *runs;
	struct null_run *open; /* instant: the run that the next post of its endpoint joins */
	struct null_ep **eps;
	uint32_t ep_count;
	int64_t told_ns;
	struct null_wire *wire;
};

static inline struct null_port *null_port(const struct ep *ep)
{
	return (struct null_port *)ep->port;
}

/* ns as the device counts them. */
static inline uint64_t null_fixed(int64_t ns)
{
	return (uint64_t)ns << FRACTION_BITS;
}

int null_post(struct ep *base, unsigned n, unsigned flags);
int null_post_rx(struct ep *ep, unsigned n);
int null_poll(struct port *base, struct done *done, int max);

#endif
