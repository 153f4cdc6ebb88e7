/* Congestion impact of one figure: what it is alone, under load and alone again, and the factor between. */
#ifndef PLAN_IMPACT_H
#define PLAN_IMPACT_H

#include "plan/roles.h"

/* The isolated phases differ when the larger figure is that much above the smaller, as a share of it. */
#define IMPACT_APART 0.1

/* NAN: not known. */
struct impact {
	double phase[IMPACT_PHASES];
	bool sure[IMPACT_PHASES]; /* of a percentile: ten or more samples lie beyond it */
	double isolated; /* the reference: mean of the isolated phases that there are */
	double factor; /* loaded / isolated; of a rate isolated / loaded: above 1 is worse */
	double by_before, by_after; /* the same by one isolated phase alone */
	double apart; /* of the two */
	bool uncertain; /* by more than IMPACT_APART */
};

/* From the figures of the phases (ret->phase) all others. */
void impact_compute(struct impact *ret, bool rate);

#endif
