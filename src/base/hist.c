/* Percentiles, moments, merging and the wire form of the log-linear histogram. */
#include "base/hist.h"

#include "base/buf.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define PERCENT_STEPS 1000000000u /* a percentile is taken in steps of 10^-9 percent */

void hist_init(struct hist *h)
{
	memset(h, 0, sizeof(*h));
	h->min = UINT64_MAX;
}

/* Width of a bucket as a power of two: the first two groups hold one value a bucket, each later one twice as many. */
static unsigned width_bits(unsigned index)
{
	const unsigned group = index >> HIST_SUB_BITS;

	return group ? group - 1 : 0;
}

uint64_t hist_bucket_low(unsigned index)
{
	const unsigned sub = index & ((1u << HIST_SUB_BITS) - 1);

	if (index < (1u << HIST_SUB_BITS))
		return index;
	return (uint64_t)((1u << HIST_SUB_BITS) + sub) << width_bits(index);
}

uint64_t hist_bucket_high(unsigned index)
{
	return hist_bucket_low(index) + ((UINT64_C(1) << width_bits(index)) - 1);
}

void hist_merge(struct hist *into, const struct hist *from)
{
	into->count += from->count;
	into->sum += from->sum;
	into->sum_squares += from->sum_squares;
	into->min = from->min < into->min ? from->min : into->min;
	into->max = from->max > into->max ? from->max : into->max;
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
}

/* ceil(p / 100 * count) in integers: in doubles 99.9 % of 1000 samples would be the 1000th. */
static uint64_t nearest_rank(uint64_t count, double p)
{
	const unsigned __int128 whole = (unsigned __int128)100 * PERCENT_STEPS;
	const double steps = p > 0 ? (p < 100 ? p : 100) * PERCENT_STEPS + 0.5 : 0;
	const uint64_t rank = (uint64_t)(((unsigned __int128)count * (uint64_t)steps + whole - 1) / whole);

	return rank ? rank : 1;
}

uint64_t hist_percentile(const struct hist *h, double p)
{
	const uint64_t rank = nearest_rank(h->count, p);
	uint64_t seen = 0, middle;
	unsigned i = 0;

	if (h->count == 0)
		return 0;
	if (rank == 1)
		return h->min;
	if (rank >= h->count)
		return h->max;
	while (i < HIST_BUCKETS - 1 && (seen += h->bucket[i]) < rank)
		i++;
	middle = hist_bucket_low(i) + (hist_bucket_high(i) - hist_bucket_low(i)) / 2;
	middle = middle < h->min ? h->min : middle;
	return middle > h->max ? h->max : middle;
}

bool hist_significant(const struct hist *h, double p)
{
	const uint64_t rank = nearest_rank(h->count, p);

	if (h->count == 0)
		return false;
	return (p < 50 ? rank - 1 : h->count - rank) >= 10;
}

double hist_mean(const struct hist *h)
{
	return h->count ? (double)((long double)h->sum / (long double)h->count) : 0;
}

/*
 * Squares are summed about the whole part of the mean, in integers modulo 2^128, so nothing cancels: 10 ns around a
 * mean of an hour come out as 10 ns.
 */
double hist_stddev(const struct hist *h)
{
	unsigned __int128 centre, about;
	long double rest, variance;

	if (h->count == 0)
		return 0;
	centre = h->sum / h->count;
	rest = (long double)(h->sum % h->count) / (long double)h->count;
	about = h->sum_squares - 2 * centre * h->sum + centre * centre * h->count;
	variance = (long double)about / (long double)h->count - rest * rest;
	return variance > 0 ? sqrt((double)variance) : 0;
}

static void put_wide(struct buf *to, unsigned __int128 v)
{
	buf_put_u64(to, (uint64_t)v);
	buf_put_u64(to, (uint64_t)(v >> 64));
}

static unsigned __int128 get_wide(struct cursor *from)
{
	const uint64_t low = cursor_u64(from);

	return (unsigned __int128)cursor_u64(from) << 64 | low;
}

void hist_pack(const struct hist *h, struct buf *to)
{
	uint16_t used = 0;

	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		used = (uint16_t)(used + (h->bucket[i] != 0));
	buf_put_u64(to, h->count);
	buf_put_u64(to, h->min);
	buf_put_u64(to, h->max);
	put_wide(to, h->sum);
	put_wide(to, h->sum_squares);
	buf_put_u16(to, used);
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		buf_put_u16(to, (uint16_t)i);
		buf_put_u64(to, h->bucket[i]);
	}
}

/* What stands before the (index, count) pairs. */
struct head {
	uint64_t count, min, max;
	unsigned __int128 sum, sum_squares;
	unsigned used; /* pairs that follow */
};

static struct head get_head(struct cursor *from)
{
	struct head head;

	head.count = cursor_u64(from);
	head.min = cursor_u64(from);
	head.max = cursor_u64(from);
	head.sum = get_wide(from);
	head.sum_squares = get_wide(from);
	head.used = cursor_u16(from);
	return head;
}

/* What the pairs say by themselves. */
struct tally {
	uint64_t count;
	unsigned first, last;
	unsigned __int128 low, high; /* bounds of the sum of all samples */
};

static bool tally_pairs(struct cursor *from, unsigned used, struct tally *ret)
{
	unsigned next = 0; /* indices ascend, so none comes twice */

	memset(ret, 0, sizeof(*ret));
	for (unsigned i = 0; i < used; i++) {
		const unsigned index = cursor_u16(from);
		const uint64_t count = cursor_u64(from);

		if (from->failed || index < next || index >= HIST_BUCKETS || count == 0 ||
		    __builtin_add_overflow(ret->count, count, &ret->count))
			return false;
		ret->first = i ? ret->first : index;
		ret->last = index;
		ret->low += (unsigned __int128)count * hist_bucket_low(index);
		ret->high += (unsigned __int128)count * hist_bucket_high(index);
		next = index + 1;
	}
	return true;
}

static bool head_agrees(const struct head *head, const struct tally *tally)
{
	if (head->count != tally->count)
		return false;
	if (head->count == 0)
		return head->min == UINT64_MAX && head->max == 0 && head->sum == 0 && head->sum_squares == 0;
	return head->min <= head->max && hist_index(head->min) == tally->first &&
	       hist_index(head->max) == tally->last && head->sum >= tally->low && head->sum <= tally->high;
}

int hist_unpack(struct hist *ret, struct cursor *from)
{
	struct cursor pairs;
	struct head head;
	struct tally tally;

	head = get_head(from);
	pairs = *from; /* pairs are read twice: first only looked at, so that ret is whole or untouched */
	if (from->failed || !tally_pairs(from, head.used, &tally) || !head_agrees(&head, &tally)) {
		from->failed = -EPROTO;
		return -EPROTO;
	}
	hist_init(ret);
	ret->count = head.count;
	ret->min = head.min;
	ret->max = head.max;
	ret->sum = head.sum;
	ret->sum_squares = head.sum_squares;
	for (unsigned i = 0; i < head.used; i++) {
		const unsigned index = cursor_u16(&pairs);

		ret->bucket[index] = cursor_u64(&pairs);
	}
	return 0;
}
