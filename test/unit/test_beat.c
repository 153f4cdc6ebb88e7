/* When a rank is silent for too long, and when only nobody listened. */
#include "orch/beat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)

static void it_beats_once_a_second(void **state)
{
	struct beat beat = { 0 };

	(void)state;
	assert_false(beat_due(&beat, 100 * SECOND));
	beat.on = true;
	assert_true(beat_due(&beat, 100 * SECOND));
	assert_false(beat_due(&beat, 100 * SECOND + SECOND - 1));
	assert_true(beat_due(&beat, 101 * SECOND));
}

/* Asked ten times a second, as the communicator does it: the instant at which it counts as silent, or 0. */
static int64_t silent_at(struct beat *beat, int64_t from, int64_t to)
{
	for (int64_t now = from; now < to; now += SECOND / 10)
		if (beat_missed(beat, now))
			return now;
	return 0;
}

static void silence_is_found_in_time(void **state)
{
	struct beat beat = { 0 };

	(void)state;
	assert_int_equal(silent_at(&beat, 100 * SECOND, 200 * SECOND), 0); /* it never said that it beats */
	beat_heard(&beat, true, 200 * SECOND);
	assert_in_range(silent_at(&beat, 200 * SECOND, 300 * SECOND), 204 * SECOND, 205 * SECOND);
	beat_heard(&beat, true, 300 * SECOND);
	assert_int_equal(silent_at(&beat, 300 * SECOND, 304 * SECOND), 0);
	beat_heard(&beat, false, 305 * SECOND); /* it is busy with other things */
	assert_int_equal(silent_at(&beat, 305 * SECOND, 400 * SECOND), 0);
}

/* A rank that was itself away, or stopped with all others, blames nobody for that. */
static void being_away_is_no_silence(void **state)
{
	struct beat beat = { 0 };

	(void)state;
	beat_heard(&beat, true, 100 * SECOND);
	assert_false(beat_missed(&beat, 100 * SECOND));
	assert_false(beat_missed(&beat, 160 * SECOND));
	assert_in_range(silent_at(&beat, 160 * SECOND, 200 * SECOND), 164 * SECOND, 165 * SECOND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_beats_once_a_second),
		cmocka_unit_test(silence_is_found_in_time),
		cmocka_unit_test(being_away_is_no_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
