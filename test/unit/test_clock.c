/* Checks the clock against the system's and that it neither goes back nor overflows. */
#include "base/clock.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define WINDOW_NS INT64_C(50000000)
#define LIMIT_PPM 200
#define SLACK_NS  (WINDOW_NS / 1000000 * LIMIT_PPM)

static void spin(int64_t ns)
{
	const int64_t end = clock_system_ns() + ns;

	while (clock_system_ns() < end)
		;
}

/* The system clock is read before and after, so that being put off the core in between does no harm. */
static void check_same_instant(const struct clock *clock, int64_t slack)
{
	const int64_t before = clock_system_ns();
	const int64_t now = clock_now(clock);
	const int64_t after = clock_system_ns();

	assert_in_range(now - before + slack, 0, after - before + 2 * slack);
}

static void it_agrees_with_the_system_clock(void **state)
{
	struct clock clock;

	(void)state;
	clock_init(&clock, false);
	check_same_instant(&clock, SLACK_NS);
	spin(WINDOW_NS);
	check_same_instant(&clock, SLACK_NS);
	assert_true(fabs(clock_drift_ppm(&clock)) <= LIMIT_PPM);
}

static void it_never_goes_back(void **state)
{
	struct clock clock;
	int64_t last;
	unsigned backwards = 0;

	(void)state;
	clock_init(&clock, false);
	last = clock_now(&clock);
	for (unsigned i = 0; i < 1000000; i++) {
		const int64_t now = clock_now(&clock);

		backwards += now < last;
		last = now;
	}
	assert_int_equal(backwards, 0);
}

static void separate_clocks_share_one_time_base(void **state)
{
	struct clock one, two, system;

	(void)state;
	clock_init(&one, false);
	clock_init(&system, true);
	clock_init(&two, false);
	for (unsigned i = 0; i < 100; i++) {
		const int64_t a = clock_now(&one), b = clock_now(&two), c = clock_now(&system), d = clock_now(&one);

		assert_in_range(b - a + SLACK_NS, 0, d - a + 2 * SLACK_NS);
		assert_in_range(c - a + SLACK_NS, 0, d - a + 2 * SLACK_NS);
	}
}

static void the_system_clock_can_be_forced(void **state)
{
	struct clock clock;

	(void)state;
	clock_init(&clock, true);
	assert_int_equal(clock.mult, 0);
	check_same_instant(&clock, 0);
	assert_true(clock_drift_ppm(&clock) == 0);
}

static void a_read_has_a_cost(void **state)
{
	struct clock clock;

	(void)state;
	clock_init(&clock, false);
	assert_in_range(clock.read_cost_ns, 1, 100000);
	clock_init(&clock, true);
	assert_in_range(clock.read_cost_ns, 1, 100000);
}

static bool processor_has(const char *flag)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[8192];
	bool has = false;

	assert_non_null(file);
	while (!has && fgets(line, sizeof(line), file))
		has = !strncmp(line, "flags", 5) && strstr(line, flag);
	fclose(file);
	return has;
}

static void a_variable_counter_is_not_used(void **state)
{
	struct clock clock;

	(void)state;
	clock_init(&clock, false);
	if (!processor_has(" constant_tsc") || !processor_has(" nonstop_tsc"))
		assert_int_equal(clock.mult, 0);
	if (clock.mult) /* between 10 MHz and 20 GHz */
		assert_in_range(clock.mult, (UINT64_C(1) << 32) / 20, UINT64_C(100) << 32);
}

static void a_century_does_not_overflow(void **state)
{
	const int64_t century = INT64_C(100) * 366 * 86400 * 1000000000;
	const struct clock clock = {
		.tsc0 = clock_ticks() - (uint64_t)century * 4, /* at 4 GHz */
		.ns0 = 12345,
		.mult = UINT64_C(1) << 30,
	};
	const int64_t now = clock_now(&clock);

	(void)state;
	assert_true(now >= century + 12345);
	assert_true(now < century + INT64_C(60) * 1000000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_agrees_with_the_system_clock),
		cmocka_unit_test(it_never_goes_back),
		cmocka_unit_test(separate_clocks_share_one_time_base),
		cmocka_unit_test(the_system_clock_can_be_forced),
		cmocka_unit_test(a_read_has_a_cost),
		cmocka_unit_test(a_variable_counter_is_not_used),
		cmocka_unit_test(a_century_does_not_overflow),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
