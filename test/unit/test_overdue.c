/* When traffic is given up: by time, by count, and with bursts that lie far apart. */
#include "base/error.h"
#include "orch/overdue.h"
#include "spec/spec.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)

static void by_time_the_end_is_known(void **state)
{
	struct overdue overdue = { .due_ns = 100 * SECOND };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(overdue_check(&overdue, 0, 130 * SECOND, &err), 0);
	assert_int_equal(overdue_check(&overdue, 9, 130 * SECOND + 1, &err), -ETIMEDOUT);
	assert_string_equal(err.text, "the traffic has not ended 30 s after its time");
}

static void by_count_something_must_move(void **state)
{
	struct overdue overdue = { .due_ns = INT64_MAX };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(overdue_check(&overdue, 0, 100 * SECOND, &err), 0);
	assert_int_equal(overdue_check(&overdue, 1, 129 * SECOND, &err), 0);
	assert_int_equal(overdue_check(&overdue, 1, 159 * SECOND, &err), 0);
	assert_int_equal(overdue_check(&overdue, 1, 159 * SECOND + 1, &err), -ETIMEDOUT);
	assert_string_equal(err.text, "no message has completed for 30 s");
}

/* 100 messages of 64 KiB at 1 Mb/s lie 52.4 s apart. The longest of several tests counts. */
static void bursts_may_lie_further_apart(void **state)
{
	const struct spec slow = {
		.burst_profile = BURST_STORAGE, .burst_size = 100, .size = 65536, .rate_limit = 1000000
	};
	const struct spec pauses = { .burst_profile = BURST_TRAINING, .burst_size = 0, .pause_max_ns = 20 * SECOND };
	struct overdue overdue = { .due_ns = INT64_MAX };
	struct error err = { 0 };

	(void)state;
	overdue_expect(&overdue, &slow);
	overdue_expect(&overdue, &pauses);
	assert_int_equal(overdue.silence_ns, INT64_C(52428800000));
	assert_int_equal(overdue_check(&overdue, 1, 100 * SECOND, &err), 0);
	assert_int_equal(overdue_check(&overdue, 1, 182 * SECOND, &err), 0);
	assert_int_equal(overdue_check(&overdue, 1, 183 * SECOND, &err), -ETIMEDOUT);
	assert_string_equal(err.text, "no message has completed for 82 s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_time_the_end_is_known),
		cmocka_unit_test(by_count_something_must_move),
		cmocka_unit_test(bursts_may_lie_further_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
