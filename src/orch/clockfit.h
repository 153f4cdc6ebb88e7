/* A rank's clock over time: the line through its measured offsets, and how wrong a reading of it may be. */
#ifndef ORCH_CLOCKFIT_H
#define ORCH_CLOCKFIT_H

#include "orch/clocksync.h"

#define CLOCKFIT_POINTS 32u /* the latest ones count */

struct clockfit {
	struct clock_offset point[CLOCKFIT_POINTS]; /* a ring */
	unsigned points, next;
};

/* Their clock minus ours at an instant of ours. */
struct clock_reading {
	int64_t offset_ns;
	int64_t bound_ns; /* the true one lies within offset_ns +- bound_ns, whatever the network did */
	int64_t u95_ns; /* it does in 95 of 100 cases: never above the bound */
	double drift; /* ns that it gains a ns; 0 when it cannot be told yet */
};

void clockfit_add(struct clockfit *fit, const struct clock_offset *point);
/* At least one point is there. */
void clockfit_at(const struct clockfit *fit, int64_t at_ns, struct clock_reading *ret);

#endif
