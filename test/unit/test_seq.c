/* Checks the counting of lost, duplicated and reordered messages against sets of numbers, on random arrivals. */
#include "driver/seq.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SENT 200000u /* messages in a random run: three windows */

/* A small generator of our own, so that every run sees the same arrivals. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static bool chance(uint64_t *state, double p)
{
	return (double)(next_random(state) >> 11) < p * 9007199254740992.0;
}

static struct seq *new_seq(void)
{
	struct seq *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	return s;
}

/* The counts by their definitions, from everything that has arrived. */
struct naive {
	bool *arrived; /* by number */
	uint64_t above; /* one above the highest number that arrived */
	uint64_t distinct, duplicated, reordered;
};

static bool naive_feed(struct naive *n, uint64_t number)
{
	if (n->arrived[number]) {
		n->duplicated++;
		return false;
	}
	n->arrived[number] = true;
	n->distinct++;
	if (number >= n->above)
		n->above = number + 1;
	else
		n->reordered++;
	return true;
}

static void assert_same(const struct seq *s, const struct naive *n)
{
	assert_int_equal(s->next, n->above);
	assert_int_equal(seq_received(s), n->distinct);
	assert_int_equal(s->lost, n->above - n->distinct);
	assert_int_equal(s->duplicated, n->duplicated);
	assert_int_equal(s->reordered, n->reordered);
	assert_int_equal(s->late, 0);
	assert_int_equal(s->alien, 0);
}

struct arrival {
	uint64_t when, number;
};

static int by_time(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;

	if (x->when != y->when)
		return x->when < y->when ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

struct trouble {
	double loss, duplication;
	uint64_t spread; /* an arrival is late by 0 ... spread messages */
};

/* A random run: who arrives, how often and in which order. At most two arrivals a message. */
static size_t make_arrivals(const struct trouble *t, uint64_t *state, struct arrival *ret)
{
	size_t n = 0;

	for (uint64_t i = 0; i < SENT; i++) {
		const unsigned copies = chance(state, t->loss) ? 0 : 1 + chance(state, t->duplication);

		for (unsigned c = 0; c < copies; c++) {
			const uint64_t late = t->spread ? next_random(state) % (t->spread + 1) : 0;

			ret[n++] = (struct arrival){ .when = i + late, .number = i };
		}
	}
	qsort(ret, n, sizeof(*ret), by_time);
	return n;
}

static void run_trouble(const struct trouble *t, uint64_t seed)
{
	struct arrival *arrivals = malloc(2 * SENT * sizeof(*arrivals));
	struct naive n = { .arrived = calloc(SENT, sizeof(bool)) };
	struct seq *s = new_seq();
	uint64_t state = seed;
	size_t count;

	assert_non_null(arrivals);
	assert_non_null(n.arrived);
	count = make_arrivals(t, &state, arrivals);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(seq_feed(s, arrivals[i].number), naive_feed(&n, arrivals[i].number));
		if (i % 97 == 0)
			assert_same(s, &n);
	}
	assert_same(s, &n);
	free(s);
	free(n.arrived);
	free(arrivals);
}

static void random_arrivals_match_the_sets(void **state)
{
	static const struct trouble troubles[] = {
		{ 0, 0, 0 },      { 0.01, 0, 0 },     { 0.9, 0, 0 },         { 0, 0.01, 0 },      { 0, 0, 3 },
		{ 0.1, 0.1, 10 }, { 0.3, 0.5, 1000 }, { 0.01, 0.01, 40000 }, { 0.5, 0.3, 65535 }, { 0, 1, 65535 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++)
		run_trouble(&troubles[i], i + 1);
}

static void bursts_of_loss_match_the_sets(void **state)
{
	struct naive n = { .arrived = calloc(40 * SENT, sizeof(bool)) };
	struct seq *s = new_seq();
	uint64_t random = 7, number = 0;

	(void)state;
	assert_non_null(n.arrived);
	for (unsigned i = 0; i < 200; i++) { /* runs of 0 ... 999, then gaps of up to half a window beyond the window */
		const uint64_t run = next_random(&random) % 1000;

		for (uint64_t end = number + run; number < end; number++)
			assert_int_equal(seq_feed(s, number), naive_feed(&n, number));
		number += next_random(&random) % (i % 2 ? 100 : SEQ_WINDOW * 3 / 2);
	}
	assert_true(number < 40 * SENT);
	assert_same(s, &n);
	free(s);
	free(n.arrived);
}

static void a_late_message_is_no_longer_lost(void **state)
{
	struct seq *s = new_seq();

	(void)state;
	assert_true(seq_feed(s, 0));
	assert_true(seq_feed(s, 3));
	assert_int_equal(s->lost, 2);
	assert_true(seq_feed(s, 1));
	assert_int_equal(s->lost, 1);
	assert_int_equal(s->reordered, 1);
	assert_false(seq_feed(s, 1));
	assert_int_equal(s->duplicated, 1);
	assert_int_equal(seq_received(s), 3);
	free(s);
}

static void the_window_reaches_as_far_as_it_says(void **state)
{
	struct seq *s = new_seq();

	(void)state;
	assert_true(seq_feed(s, SEQ_WINDOW)); /* 0 ... SEQ_WINDOW - 1 missing; next = SEQ_WINDOW + 1 */
	assert_int_equal(s->lost, SEQ_WINDOW);
	assert_false(seq_feed(s, 0)); /* one too far behind */
	assert_int_equal(s->late, 1);
	assert_int_equal(s->lost, SEQ_WINDOW);
	assert_true(seq_feed(s, 1)); /* the last one that is remembered */
	assert_false(seq_feed(s, 1));
	assert_int_equal(s->lost, SEQ_WINDOW - 1);
	assert_int_equal(s->duplicated, 1);
	assert_int_equal(seq_received(s), 2);
	free(s);
}

static void a_gap_beyond_the_window_forgets_what_was_before(void **state)
{
	struct seq *s = new_seq();

	(void)state;
	for (uint64_t i = 0; i < 100; i++)
		seq_feed(s, i);
	assert_true(seq_feed(s, 10 * SEQ_WINDOW + 50));
	assert_int_equal(s->lost, 10 * SEQ_WINDOW + 50 - 100);
	assert_true(seq_feed(s, 9 * SEQ_WINDOW + 60)); /* shares its place with number 60, which had arrived */
	assert_int_equal(s->reordered, 1);
	assert_int_equal(s->duplicated, 0);
	free(s);
}

static void numbers_out_of_reach_are_not_ours(void **state)
{
	struct seq *s = new_seq();

	(void)state;
	seq_feed(s, 0);
	assert_false(seq_feed(s, UINT64_MAX));
	assert_false(seq_feed(s, 2 + SEQ_MAX_JUMP));
	assert_int_equal(s->alien, 2);
	assert_int_equal(s->lost, 0);
	assert_int_equal(s->next, 1);
	assert_true(seq_feed(s, 1 + SEQ_MAX_JUMP));
	assert_int_equal(s->lost, SEQ_MAX_JUMP);
	free(s);
}

static void low_halves_count_across_their_wrap(void **state)
{
	const uint64_t start = (UINT64_C(1) << 32) - 1000;
	struct seq *s = new_seq();

	(void)state;
	assert_true(seq_feed(s, start - 1));
	for (uint64_t i = start; i < start + 2000; i++)
		if (i % 10 != 3)
			assert_true(seq_feed_low(s, (uint32_t)i));
	assert_int_equal(s->next, start + 2000);
	assert_int_equal(seq_received(s), 1 + 1800);
	assert_true(seq_feed_low(s, (uint32_t)(start - start % 10 + 13))); /* before the wrap, fed after it */
	assert_int_equal(s->reordered, 1);
	assert_int_equal(seq_received(s), 1 + 1801);
	free(s);
}

static void low_halves_before_the_first_are_not_ours(void **state)
{
	struct seq *s = new_seq();

	(void)state;
	assert_true(seq_feed_low(s, 0));
	assert_false(seq_feed_low(s, UINT32_MAX));
	assert_int_equal(s->alien, 1);
	assert_int_equal(s->lost, 0);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_arrivals_match_the_sets),
		cmocka_unit_test(bursts_of_loss_match_the_sets),
		cmocka_unit_test(a_late_message_is_no_longer_lost),
		cmocka_unit_test(the_window_reaches_as_far_as_it_says),
		cmocka_unit_test(a_gap_beyond_the_window_forgets_what_was_before),
		cmocka_unit_test(numbers_out_of_reach_are_not_ours),
		cmocka_unit_test(low_halves_count_across_their_wrap),
		cmocka_unit_test(low_halves_before_the_first_are_not_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
