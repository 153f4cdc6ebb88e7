/* The arithmetic of congestion impact factors. */
#include "plan/impact.h"

#include <math.h>

static double quotient(double a, double b)
{
	return b > 0 ? a / b : (double)NAN;
}

static double factor(const struct impact *impact, double isolated, bool rate)
{
	const double loaded = impact->phase[IMPACT_LOADED];

	return rate ? quotient(isolated, loaded) : quotient(loaded, isolated);
}

void impact_compute(struct impact *ret, bool rate)
{
	const double before = ret->phase[IMPACT_BEFORE], after = ret->phase[IMPACT_AFTER];
	const double low = fmin(before, after), high = fmax(before, after); /* of one that is missing: the other */

	ret->isolated = (low + high) / 2;
	ret->factor = factor(ret, ret->isolated, rate);
	ret->by_before = factor(ret, before, rate);
	ret->by_after = factor(ret, after, rate);
	ret->apart = isnan(before) || isnan(after) ? (double)NAN : quotient(high - low, low);
	ret->uncertain = ret->apart > IMPACT_APART || (low <= 0 && high > 0);
}
