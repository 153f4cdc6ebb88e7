/* How far another rank's clock is from ours, with a bound that holds whatever the network does. */
#ifndef ORCH_CLOCKSYNC_H
#define ORCH_CLOCKSYNC_H

#include "base/error.h"

#include <stdint.h>

struct comm;
struct ping;

#define CLOCKSYNC_ROUNDS  256u /* ping-pongs by default, at most */
#define CLOCKSYNC_PATIENT 20u /* ends when that many in a row told nothing new; five times as many while it is bad: */
#define CLOCKSYNC_GOOD_NS 50000 /* a bound above that */
#define CLOCKSYNC_LONG_NS 20000000 /* for so long */
#define CLOCKSYNC_RANKS   16u /* of so many ranks one is asked at a time, */
#define CLOCKSYNC_AT_ONCE 32u /* but no more than that many at once */
#define CLOCK_DRIFT_PPM   200 /* no two clocks drift apart faster: crystals are good to some tens of ppm */

struct clock_offset {
	int64_t offset_ns; /* their clock minus ours */
	int64_t error_ns; /* the true offset lies within offset_ns +- error_ns: at most half of the best round trip, and a little drift */
	int64_t at_ns; /* when, on our clock */
	unsigned rounds; /* ping-pongs taken */
};

/* Offset and bound that follow from one ping-pong. -EPROTO when its instants are impossible (answered before asked). */
int clocksync_judge(const struct ping *ping, struct clock_offset *ret);

/* At most `rounds` ping-pongs (0 = the default) with a rank. At least one must be answered before the deadline. */
int clocksync_measure(struct comm *comm, unsigned rank, unsigned rounds, struct clock_offset *ret, int64_t deadline_ns,
		      struct error *err);
/* The same with each of `count` ranks from the first, several of them at once: ret[count]. */
int clocksync_measure_all(struct comm *comm, unsigned first, unsigned count, unsigned rounds, struct clock_offset *ret,
			  int64_t deadline_ns, struct error *err);

#endif
