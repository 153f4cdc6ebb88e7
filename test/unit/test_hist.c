/* Checks the histogram against exact sorting. */
#include "base/hist.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define BUCKET_PART 128 /* a bucket is at most 1/128 of its smallest value wide */

static struct hist *new_hist(void)
{
	struct hist *h = malloc(sizeof(*h));

	assert_non_null(h);
	hist_init(h);
	return h;
}

/* A small generator of our own, so that every run sees the same sets. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static double next_unit(uint64_t *state)
{
	return ((double)(next_random(state) >> 11) + 0.5) / 9007199254740992.0;
}

static uint64_t uniform(uint64_t *state)
{
	return 1000 + next_random(state) % 100000;
}

/* Up to 2^54 ns, half a year. */
static uint64_t log_uniform(uint64_t *state)
{
	return next_random(state) >> (10 + next_random(state) % 54);
}

static uint64_t heavy_tail(uint64_t *state)
{
	return (uint64_t)(5000 / pow(next_unit(state), 1.5));
}

static uint64_t constant(uint64_t *state)
{
	(void)state;
	return 5000;
}

static uint64_t tiny(uint64_t *state)
{
	return next_random(state) % 4;
}

static uint64_t zero(uint64_t *state)
{
	(void)state;
	return 0;
}

static uint64_t two_modes(uint64_t *state)
{
	return next_random(state) % 10 ? 4500 + next_random(state) % 100 : 30000000 + next_random(state) % 1000;
}

static int compare(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static void check_moments(const struct hist *h, const uint64_t *sorted, size_t count)
{
	long double mean = 0, about = 0;

	for (size_t i = 0; i < count; i++)
		mean += (long double)sorted[i] / (long double)count;
	for (size_t i = 0; i < count; i++)
		about += ((long double)sorted[i] - mean) * ((long double)sorted[i] - mean) / (long double)count;
	assert_true(fabs(hist_mean(h) - (double)mean) <= 1e-9 * (double)mean);
	assert_true(fabs(hist_stddev(h) - sqrt((double)about)) <= 1e-6 * (sqrt((double)about) + 1e-3));
}

static void check_percentiles(const struct hist *h, const uint64_t *sorted, size_t count)
{
	static const unsigned thousandths[] = { 1,     1000,  10000, 25000, 33333, 50000, 66667,
						75000, 90000, 95000, 99000, 99900, 99990, 100000 };
	uint64_t before = 0;

	for (size_t i = 0; i < sizeof(thousandths) / sizeof(thousandths[0]); i++) {
		const size_t rank = (thousandths[i] * count + 99999) / 100000;
		const uint64_t exact = sorted[rank - 1];
		const uint64_t got = hist_percentile(h, thousandths[i] / 1000.0);

		assert_int_equal(hist_index(got), hist_index(exact));
		assert_true((got > exact ? got - exact : exact - got) <= exact / BUCKET_PART);
		assert_true(got >= before && got >= h->min && got <= h->max);
		before = got;
	}
}

static void check_set(uint64_t (*draw)(uint64_t *state), size_t count, uint64_t seed)
{
	uint64_t *sample = malloc(count * sizeof(*sample));
	struct hist *h = new_hist();

	assert_non_null(sample);
	for (size_t i = 0; i < count; i++) {
		sample[i] = draw(&seed);
		hist_record(h, sample[i]);
	}
	qsort(sample, count, sizeof(*sample), compare);
	assert_int_equal(h->count, count);
	assert_int_equal(h->min, sample[0]);
	assert_int_equal(h->max, sample[count - 1]);
	assert_int_equal(hist_percentile(h, 100), sample[count - 1]);
	check_percentiles(h, sample, count);
	check_moments(h, sample, count);
	free(h);
	free(sample);
}

static void sorted_sets_agree(void **state)
{
	static uint64_t (*const draw[])(uint64_t *) = { uniform, log_uniform, heavy_tail, constant,
							tiny,    zero,        two_modes };
	static const size_t count[] = { 1, 2, 3, 9, 10, 11, 99, 100, 101, 999, 1000, 1001, 20000 };

	(void)state;
	for (size_t d = 0; d < sizeof(draw) / sizeof(draw[0]); d++)
		for (size_t c = 0; c < sizeof(count) / sizeof(count[0]); c++)
			check_set(draw[d], count[c], 1 + 100 * d + c);
}

static void buckets_tile_all_values(void **state)
{
	(void)state;
	assert_int_equal(hist_bucket_low(0), 0);
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		const uint64_t low = hist_bucket_low(i), high = hist_bucket_high(i);

		assert_true(low <= high);
		assert_int_equal(hist_index(low), i);
		assert_int_equal(hist_index(high), i);
		assert_true(high - low <= low / BUCKET_PART);
		if (i + 1 < HIST_BUCKETS)
			assert_int_equal(hist_bucket_low(i + 1), high + 1);
	}
	assert_true(hist_bucket_high(HIST_BUCKETS - 1) == UINT64_MAX);
}

static void one_outlier_is_the_max(void **state)
{
	struct hist *h = new_hist();

	(void)state;
	for (unsigned i = 0; i < 1000000; i++)
		hist_record(h, i == 777777 ? 10000000 : 5000);
	assert_int_equal(h->max, 10000000);
	assert_int_equal(hist_percentile(h, 100), 10000000);
	assert_int_equal(hist_index(hist_percentile(h, 99.9999)), hist_index(5000));
	assert_int_equal(hist_index(hist_percentile(h, 50)), hist_index(5000));
	assert_true(fabs(hist_mean(h) - 5009.995) < 1e-9);
	free(h);
}

static void ten_samples_beyond_are_significant(void **state)
{
	static const struct {
		double p;
		unsigned count;
		bool significant;
	} row[] = {
		{ 99.9, 1000, false }, { 99.9, 9999, false }, { 99.9, 10000, true },   { 99.9, 10001, true },
		{ 99, 999, false },    { 99, 1000, true },    { 50, 19, false },       { 50, 20, true },
		{ 100, 1000, false },  { 1, 1000, false },    { 1, 1100, true },       { 99.99, 100000, true },
		{ 50, 1, false },      { 50, 0, false },      { 99.99, 99999, false },
	};

	(void)state;
	for (size_t r = 0; r < sizeof(row) / sizeof(row[0]); r++) {
		struct hist *h = new_hist();

		for (unsigned i = 0; i < row[r].count; i++)
			hist_record(h, i);
		assert_int_equal(hist_significant(h, row[r].p), row[r].significant);
		free(h);
	}
}

static void empty_one_gives_zeroes(void **state)
{
	struct hist *h = new_hist();

	(void)state;
	assert_int_equal(hist_percentile(h, 50), 0);
	assert_true(hist_mean(h) == 0 && hist_stddev(h) == 0);
	assert_true(h->min == UINT64_MAX && h->max == 0);
	free(h);
}

static void small_spread_about_a_large_mean(void **state)
{
	const uint64_t hour = UINT64_C(3600000000000);
	struct hist *h = new_hist();

	(void)state;
	for (unsigned i = 0; i < 100000; i++)
		hist_record(h, i & 1 ? hour - 10 : hour + 10);
	assert_true(fabs(hist_stddev(h) - 10) < 1e-9);
	assert_true(fabs(hist_mean(h) - (double)hour) < 1e-3);
	free(h);
}

static void merging_is_recording_into_one(void **state)
{
	struct hist *all = new_hist(), *merged = new_hist(), *part;
	uint64_t seed = 42;

	(void)state;
	for (unsigned p = 0; p < 5; p++) {
		part = new_hist();
		for (unsigned i = 0; i < p * 1000; i++) { /* the first part is empty */
			const uint64_t value = p & 1 ? log_uniform(&seed) : heavy_tail(&seed);

			hist_record(part, value);
			hist_record(all, value);
		}
		hist_merge(merged, part);
		free(part);
	}
	assert_memory_equal(merged, all, sizeof(*all));
	free(merged);
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorted_sets_agree),
		cmocka_unit_test(buckets_tile_all_values),
		cmocka_unit_test(one_outlier_is_the_max),
		cmocka_unit_test(ten_samples_beyond_are_significant),
		cmocka_unit_test(empty_one_gives_zeroes),
		cmocka_unit_test(small_spread_about_a_large_mean),
		cmocka_unit_test(merging_is_recording_into_one),
	};

	return cmocka_run_group_tests_name("hist", tests, NULL, NULL);
}
