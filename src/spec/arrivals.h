/* What a receiver keeps of the bursts that come to it, by its own clock, and what that comes to over all receivers. */
#ifndef SPEC_ARRIVALS_H
#define SPEC_ARRIVALS_H

#include "spec/burst.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct cursor;
struct rank_result;

/* What came in one slot, of all senders. Instants are ns of the receiver's clock. */
struct burst_arrival {
	uint64_t number; /* of the slot */
	int64_t offset_ns; /* that clock minus rank 0's at that time, where it was followed */
	int64_t first_ns, last_ns;
	uint64_t messages;
};

/* Of one worker, over the slots that were due in the window. */
struct burst_arrivals {
	bool followed; /* the offsets are known */
	uint64_t kept; /* records ever; the last BURST_KEPT are there, number i at i % BURST_KEPT */
	struct burst_arrival record[BURST_KEPT];
};

struct burst_arrivals *burst_arrivals_new(void); /* NULL: no memory */
/* Messages that came together; slots only ever go on. */
void burst_arrived(struct burst_arrivals *arrivals, uint64_t number, int64_t now, uint64_t messages);
void burst_arrivals_pack(const struct burst_arrivals *arrivals, struct buf *to);
int burst_arrivals_unpack(struct burst_arrivals **ret, struct cursor *from); /* -EPROTO, -ENOMEM; bounded */

static inline uint64_t arrivals_first_kept(const struct burst_arrivals *arrivals)
{
	return arrivals->kept > BURST_KEPT ? arrivals->kept - BURST_KEPT : 0;
}

/* Receivers by number, one connection after another; several workers or connections of a receiver make one burst of a number. */
struct arrival_sum;
struct arrival_sum *arrival_sum_new(void); /* NULL: no memory */
int arrival_sum_add(struct arrival_sum *sum, uint32_t number, const struct rank_result *rank); /* -ENOMEM */
/* All is added: puts together what belongs together. ideal_us: what the busiest link needs for a burst; NAN. */
void arrival_sum_end(struct arrival_sum *sum, const struct spec *spec, double ideal_us, struct arrival_summary *ret);
/* Behind that: what came of a slot at any receiver, in rank 0's clock; false: it is not known. */
bool arrival_sum_find(const struct arrival_sum *sum, uint64_t number, struct burst_arrival *ret);
void arrival_sum_free(struct arrival_sum *sum);

#endif
