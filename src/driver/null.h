/* The null device: completes by a programmed latency, rate and loss, so that what is reported can be compared with what is true. */
#ifndef DRIVER_NULL_H
#define DRIVER_NULL_H

#include "driver/driver.h"

extern const struct driver driver_null;

/* Whether message number seq is lost, with the given probability: the same answer on both sides (SplitMix64 of the number). */
bool null_is_lost(uint64_t seed, uint32_t ep, uint64_t seq, double probability);

/*
 * The wire (null_wire.c): tells the passive side which message numbers were sent, over one TCP connection a port, so
 * that the receiver's counting is exercised for real. A record: {u32 endpoint, u32 count, u64 first number}.
 */
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
/* Sends what fits: number of records sent, 0 when the socket is full, negative errno. Whole records only. */
int null_wire_send(struct null_wire *wire, const struct null_record *records, int count, struct error *err);
/* Takes what is there: number of records, 0 when there is none, negative errno (the other side is gone). */
int null_wire_receive(struct null_wire *wire, struct null_record *ret, int max, struct error *err);

#endif
