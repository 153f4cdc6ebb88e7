/* The clocks of all ranks: rank 0 measures them as often as it is asked to, and each rank knows them all. */
#ifndef ORCH_CLOCKS_H
#define ORCH_CLOCKS_H

#include "orch/clockfit.h"
#include "spec/part.h"

#include <stdbool.h>

struct clock;
struct comm;

struct clocks {
	unsigned ranks;
	struct clockfit *fit; /* by rank; rank 0's own is exact and has no points */
	bool *shared; /* by rank: it reads rank 0's clock, so that the two differ by nothing but a reading's own error */
	int64_t read_cost_ns;
	int64_t rtt_ns; /* the slowest of the best round trips */
	struct closure closure; /* at rank 0, once tested */
};

#define CLOCKS_GAP_ROUNDS 20u /* for a gap of the traffic: some hundred us a rank */

int clocks_init(struct clocks *ret, unsigned ranks, struct error *err);
void clocks_release(struct clocks *clocks);
/*
 * Every rank calls it at the same place, before anything is measured: ranks that read the counter that rank 0 reads (one running
 * kernel, one time namespace, calibrations that agree) make own the clock that rank 0 has.
 */
int clocks_share(struct clocks *clocks, struct comm *comm, struct clock *own, int64_t deadline_ns, struct error *err);
/* What was found of a clock that is rank 0's: no offset, where the pings allow that. False: they are not one, and never were. */
bool clock_settle(const struct clocks *clocks, bool *shared, struct clock_offset *found);

/*
 * Every rank calls it at the same place, while no traffic disturbs it: one more point for each rank's clock, from at most
 * `rounds` ping-pongs (0 = the default), and all ranks know it.
 */
int clocks_sync(struct clocks *clocks, struct comm *comm, unsigned rounds, int64_t deadline_ns, struct error *err);
/* Every rank calls it, after clocks_sync. */
int clocks_test(struct clocks *clocks, struct comm *comm, int64_t deadline_ns, struct error *err);

/* A rank's clock minus rank 0's at an instant of rank 0's clock; after clocks_sync. */
void clocks_at(const struct clocks *clocks, unsigned rank, int64_t root_ns, struct clock_reading *ret);
/* An instant of rank 0's clock on a rank's own, and back. */
int64_t clocks_own(const struct clocks *clocks, unsigned rank, int64_t root_ns);
int64_t clocks_root(const struct clocks *clocks, unsigned rank, int64_t own_ns);

#endif
