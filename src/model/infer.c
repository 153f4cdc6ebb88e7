/* Follows bursts as they were sent through a queue of any limit, and finds the limit that explains what was lost. */
#include "model/infer.h"

#include "base/error.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define SHORTEST 1e-9 /* s: what came at one instant took so long */
#define HALVINGS 60

static int by_time(const void *a, const void *b)
{
	const struct infer_edge *const x = a, *const y = b;

	return (x->at > y->at) - (x->at < y->at);
}

int infer_init(struct infer *ret, const struct arrival *arrival, uint32_t count, double drain, struct error *err)
{
	*ret = (struct infer){ .count = 2 * count, .drain = drain };
	ret->edge = calloc(2 * (size_t)count + 1, sizeof(*ret->edge));
	if (!ret->edge)
		return error_set(err, -ENOMEM, "no memory for %u bursts", count);
	for (uint32_t i = 0; i < count; i++) {
		const struct arrival *const one = &arrival[i];
		const double end = fmax(one->end, one->start + SHORTEST), rate = one->bytes / (end - one->start);

		ret->edge[2 * i] = (struct infer_edge){ one->start, rate };
		ret->edge[2 * i + 1] = (struct infer_edge){ end, -rate };
		ret->bytes += one->bytes;
	}
	qsort(ret->edge, ret->count, sizeof(*ret->edge), by_time);
	return 0;
}

void infer_release(struct infer *infer)
{
	free(infer->edge);
	infer->edge = NULL;
}

/* Between two edges the queue grows or drains evenly, as far as it can. */
double infer_loss(const struct infer *infer, double limit)
{
	double rate = 0, queue = 0, lost = 0, at = infer->count ? infer->edge[0].at : 0;

	for (uint32_t i = 0; i < infer->count; i++) {
		queue = fmax(queue + (rate - infer->drain) * (infer->edge[i].at - at), 0);
		lost += fmax(queue - limit, 0);
		queue = fmin(queue, limit);
		rate = fmax(rate + infer->edge[i].rate, 0);
		at = infer->edge[i].at;
	}
	return lost;
}

double infer_limit(const struct infer *infer, double lost)
{
	double low = 0, high = infer->bytes;

	for (int i = 0; i < HALVINGS; i++) {
		const double middle = (low + high) / 2;

		if (infer_loss(infer, middle) > lost)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of n values the number below the median is binomial: n / 2 +- 0.98 sqrt(n) in 95 of 100 cases. */
void infer_median(double *value, uint32_t count, struct infer_range *ret)
{
	const double reach = 0.98 * sqrt(count), half = count / 2.0;
	const double first = fmax(floor(half - reach), 1), last = fmin(ceil(half + reach) + 1, count);

	*ret = (struct infer_range){ (double)NAN, (double)NAN, (double)NAN };
	if (!count)
		return;
	qsort(value, count, sizeof(*value), by_value);
	ret->median = (value[(count - 1) / 2] + value[count / 2]) / 2;
	if (count < 6)
		return;
	ret->low = value[(uint32_t)first - 1];
	ret->high = value[(uint32_t)last - 1];
}
