/* Log-linear histogram of durations: constant memory, at most 0.4 % bucket error, exact min, max, sum; mergeable. */
#ifndef BASE_HIST_H
#define BASE_HIST_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct cursor;

#define HIST_SUB_BITS 8 /* 2^8 sub-buckets an octave: a bucket is at most 1/256 = 0.39 % wide */
#define HIST_BUCKETS  ((64 - HIST_SUB_BITS + 1) << HIST_SUB_BITS)

struct hist {
	uint64_t count; /* samples */
	uint64_t min, max; /* exact, in the unit recorded (ns); min = UINT64_MAX when empty */
	unsigned __int128 sum, sum_squares; /* exact */
	uint64_t bucket[HIST_BUCKETS];
};

void hist_init(struct hist *h);

/* Index of the bucket that holds value; below, the smallest and the largest value of a bucket (< HIST_BUCKETS). */
static inline unsigned hist_index(uint64_t value)
{
	unsigned log2;

	if (value < (1u << HIST_SUB_BITS))
		return (unsigned)value;
	log2 = 63u - (unsigned)__builtin_clzll(value);
	return ((log2 - HIST_SUB_BITS + 1) << HIST_SUB_BITS) +
	       (unsigned)((value >> (log2 - HIST_SUB_BITS)) & ((1u << HIST_SUB_BITS) - 1));
}

uint64_t hist_bucket_low(unsigned index);
uint64_t hist_bucket_high(unsigned index);

static inline void hist_record(struct hist *h, uint64_t value)
{
	h->count++;
	h->sum += value;
	h->sum_squares += (unsigned __int128)value * value;
	h->min = value < h->min ? value : h->min;
	h->max = value > h->max ? value : h->max;
	h->bucket[hist_index(value)]++;
}

void hist_merge(struct hist *into, const struct hist *from);

/*
 * Nearest-rank percentile, 0 < p <= 100: the value of sample ceil(p/100 * count) in ascending order, exact to its
 * bucket (middle of the bucket, clamped to min and max; the first and the last sample are min and max). 0 when empty.
 */
uint64_t hist_percentile(const struct hist *h, double p);

/* Whether at least ten samples lie beyond percentile p (below it when p < 50): else it is marked as not significant. */
bool hist_significant(const struct hist *h, double p);

double hist_mean(const struct hist *h); /* 0 when empty */
double hist_stddev(const struct hist *h); /* population standard deviation, 0 when empty */

/* Wire form: count, min, max, sum, sum_squares and the non-empty buckets as (index, count) pairs. */
void hist_pack(const struct hist *h, struct buf *to);
/* 0, or -EPROTO and ret untouched: short, counts that do not add up, a bad index, min > max, a sum the pairs forbid. */
int hist_unpack(struct hist *ret, struct cursor *from);

#endif
