/* Tells a limit of each queue's own from a dynamic threshold: that gives a queue less when another is full. */
#include "model/share.h"

#include "model/burst.h"

#include <math.h>

#define EQUAL                                                                                                          \
	1.05 /* limits that are no further apart are one; a dynamic threshold makes so little with alpha below 1/19 */
#define LEAST 2.0 /* an alpha without bounds leaves half */

/* Of a dynamic threshold with these limits; with half or less beside the other, one queue alone takes the whole pool. */
static double pool_of(double one, double two)
{
	double pool, alpha;

	return buffer_infer(one, two, &pool, &alpha) ? pool : one;
}

static double alpha_of(double one, double two)
{
	double pool, alpha;

	return buffer_infer(one, two, &pool, &alpha) ? alpha : (double)INFINITY;
}

static void judge(struct share *share)
{
	const struct infer_range *const ratio = &share->ratio;

	if (isnan(ratio->median))
		share->why = "the limit is not known of both";
	else if (!isfinite(ratio->low))
		share->why = "fewer than six sizes tell the limit of one or of both";
	else if (ratio->low > LEAST)
		share->why = "beside the other a queue holds less than half, which no alpha explains";
	else if (ratio->high < 1 / EQUAL)
		share->why = "beside the other a queue holds more";
	else if (ratio->low > EQUAL)
		share->kind = SHARE_DYNAMIC;
	else if (ratio->high < EQUAL && ratio->low > 1 / EQUAL)
		share->kind = SHARE_STATIC;
	else
		share->why = "the limits are not known well enough";
}

void share_infer(const struct infer_range *one, const struct infer_range *two, struct share *ret)
{
	const struct infer_range none = { (double)NAN, (double)NAN, (double)NAN };

	*ret = (struct share){ .pool = none, .alpha = none };
	ret->ratio = (struct infer_range){ one->median / two->median, one->low / two->high, one->high / two->low };
	judge(ret);
	if (ret->kind != SHARE_DYNAMIC)
		return;
	ret->pool = (struct infer_range){ pool_of(one->median, two->median),
					  pool_of(fmax(one->low, fmin(LEAST * two->low, one->high)), two->low),
					  fmax(pool_of(one->low, two->high), one->high) };
	ret->alpha = (struct infer_range){ alpha_of(one->median, two->median), alpha_of(one->low, two->high),
					   alpha_of(one->high, two->low) };
}
