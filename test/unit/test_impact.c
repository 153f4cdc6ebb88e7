/* Congestion impact factors: closed forms, and what is not known or is zero. */
#include "plan/impact.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define NONE ((double)NAN)

static const struct {
	double phase[IMPACT_PHASES];
	bool rate;
	double isolated, factor, by_before, by_after, apart;
	bool uncertain;
} rows[] = {
	{ { 10, 30, 10 }, false, 10, 3, 3, 3, 0, false },
	{ { 100, 50, 100 }, true, 100, 2, 2, 2, 0, false },
	{ { 8, 30, 12 }, false, 10, 3, 3.75, 2.5, 0.5, true },
	{ { 12, 30, 8 }, false, 10, 3, 2.5, 3.75, 0.5, true },
	{ { 80, 50, 120 }, true, 100, 2, 1.6, 2.4, 0.5, true },
	{ { 10, 11, 11 }, false, 10.5, 11 / 10.5, 1.1, 1, 0.1, false }, /* a tenth is not more than a tenth */
	{ { 10, 11, 11.01 }, false, 10.505, 11 / 10.505, 1.1, 11 / 11.01, 0.101, true },
	{ { 10, 5, 10 }, false, 10, 0.5, 0.5, 0.5, 0, false }, /* the load may help */
	{ { 10, 30, NONE }, false, 10, 3, 3, NONE, NONE, false },
	{ { NONE, 30, 10 }, false, 10, 3, NONE, 3, NONE, false },
	{ { 100, 50, NONE }, true, 100, 2, 2, NONE, NONE, false },
	{ { NONE, 50, 100 }, true, 100, 2, NONE, 2, NONE, false },
	{ { NONE, 30, NONE }, false, NONE, NONE, NONE, NONE, NONE, false },
	{ { 10, NONE, 10 }, false, 10, NONE, NONE, NONE, 0, false },
	{ { 10, NONE, 10 }, true, 10, NONE, NONE, NONE, 0, false },
	{ { 0, 30, 0 }, false, 0, NONE, NONE, NONE, NONE, false },
	{ { 0, 30, 10 }, false, 5, 6, NONE, 3, NONE, true },
	{ { 10, 0, 10 }, false, 10, 0, 0, 0, 0, false },
	{ { 10, 0, 10 }, true, 10, NONE, NONE, NONE, 0, false }, /* nothing was left of it: no factor is that large */
};

static void same(unsigned row, const char *what, double is, double wanted)
{
	if (isnan(is) != isnan(wanted) || fabs(is - wanted) > 1e-9 * fabs(wanted))
		fail_msg("row %u: %s is %g, not %g", row, what, is, wanted);
}

static void test_closed_forms(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct impact impact = { 0 };

		for (unsigned k = 0; k < IMPACT_PHASES; k++)
			impact.phase[k] = rows[i].phase[k];
		impact_compute(&impact, rows[i].rate);
		same(i, "isolated", impact.isolated, rows[i].isolated);
		same(i, "factor", impact.factor, rows[i].factor);
		same(i, "by_before", impact.by_before, rows[i].by_before);
		same(i, "by_after", impact.by_after, rows[i].by_after);
		same(i, "apart", impact.apart, rows[i].apart);
		if (impact.uncertain != rows[i].uncertain)
			fail_msg("row %u: uncertain is %d", i, impact.uncertain);
	}
}

/* The factor lies between those by each isolated phase alone. */
static void test_it_lies_between(void **state)
{
	(void)state;
	srand(1);
	for (unsigned i = 0; i < 10000; i++) {
		struct impact impact = { .phase = { 1 + rand() % 1000, 1 + rand() % 1000, 1 + rand() % 1000 } };

		impact_compute(&impact, i % 2);
		assert_true(impact.factor >= fmin(impact.by_before, impact.by_after) * (1 - 1e-12));
		assert_true(impact.factor <= fmax(impact.by_before, impact.by_after) * (1 + 1e-12));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_closed_forms),
		cmocka_unit_test(test_it_lies_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
