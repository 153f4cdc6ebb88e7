/* The schedule of an open loop: no drift in any number of messages, workers share it, and random gaps are exponential. */
#include "engine/pace.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define START INT64_C(5000000000)

static struct spec spec_of(uint64_t per_second, bool messages, uint64_t size, uint64_t workers)
{
	return (struct spec){ .load = { per_second, messages }, .size = size, .workers = workers, .seed = 1 };
}

/* Message k of the whole test is due at start + floor(k / rate), computed without the schedule's own arithmetic. */
static void check_exact(const struct spec *spec, uint64_t messages)
{
	const unsigned __int128 bits = spec->load.in_messages ? 1 : (unsigned __int128)spec->size * 8;

	for (unsigned worker = 0; worker < spec->workers; worker++) {
		struct pace pace;

		pace_init(&pace, spec, worker, START);
		for (uint64_t k = worker; k < messages; k += spec->workers) {
			const unsigned __int128 ns = bits * k * 1000000000u / spec->load.per_second;
			int64_t off;

			if (ns > INT64_MAX / 4) /* centuries */
				break;
			off = pace.due_ns - START - (int64_t)ns;

			/* a fraction cut below 2^-64 ns may put an instant that is a whole number just before it */
			if (off != 0 && off != -1)
				fail_msg("worker %u, message %llu: due at %lld, not at %lld", worker,
					 (unsigned long long)k, (long long)(pace.due_ns - START), (long long)ns);
			pace_advance(&pace);
		}
	}
}

static void periods_are_exact(void **state)
{
	const struct spec specs[] = {
		spec_of(3, true, 8, 1),
		spec_of(7000003, true, 8, 3),
		spec_of(99999999977, true, 8, 1), /* a period of a hundredth of a ns */
		spec_of(10000000000, false, 4096, 1),
		spec_of(99999999999, false, 1500, 7),
		spec_of(1, false, 1 << 20, 2),
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
		check_exact(&specs[i], 300000);
}

static void what_is_due_later_than_any_test_is_never_due(void **state)
{
	const struct spec specs[] = { spec_of(1, false, 1 << 30, 1024) };
	struct pace pace;

	(void)state;
	pace_init(&pace, &specs[0], 1023, START);
	for (unsigned i = 0; i < 4; i++) {
		assert_true(pace.due_ns > START + INT64_C(1000000000) * 1000000);
		pace_advance(&pace);
	}
}

static void messages_until_an_instant_are_counted(void **state)
{
	const struct spec spec = spec_of(1000, true, 8, 1);
	struct pace pace;

	(void)state;
	pace_init(&pace, &spec, 0, START);
	assert_int_equal(pace_until(&pace, START - 1), 0);
	assert_int_equal(pace_until(&pace, START), 0);
	assert_int_equal(pace_until(&pace, START + 1), 1);
	assert_int_equal(pace_until(&pace, START + 1000000), 1);
	assert_int_equal(pace_until(&pace, START + 1000001), 2);
	assert_int_equal(pace_until(&pace, START + 10000000000), 10000);
	assert_int_equal(pace_until(&pace, INT64_MIN + START), 0);
}

/* Mean, deviation and median of the gaps are those of the exponential distribution. */
static void random_gaps_are_exponential(void **state)
{
	enum { MESSAGES = 1000000 };
	struct spec spec = spec_of(1000000, true, 8, 4);
	double sum = 0, squares = 0;
	unsigned below = 0;
	struct pace pace;
	int64_t before = START;

	(void)state;
	spec.arrivals = ARRIVALS_POISSON;
	pace_init(&pace, &spec, 2, START);
	for (unsigned i = 0; i < MESSAGES; i++) {
		const double gap = (double)(pace.due_ns - before);

		assert_true(gap >= 0);
		sum += gap;
		squares += gap * gap;
		below += gap < 4000 * log(2);
		before = pace.due_ns;
		pace_advance(&pace);
	}
	assert_true(fabs(sum / MESSAGES / 4000 - 1) < 0.005);
	assert_true(fabs(sqrt(squares / MESSAGES - pow(sum / MESSAGES, 2)) / 4000 - 1) < 0.005);
	assert_true(fabs((double)below / MESSAGES - 0.5) < 0.002);
}

static int64_t hundredth(uint64_t seed, unsigned worker)
{
	struct spec spec = spec_of(1000, true, 8, 1);
	struct pace pace;

	spec.arrivals = ARRIVALS_POISSON;
	spec.seed = seed;
	pace_init(&pace, &spec, worker, START);
	for (unsigned i = 0; i < 100; i++)
		pace_advance(&pace);
	return pace.due_ns;
}

static void the_seed_and_the_worker_decide(void **state)
{
	(void)state;
	assert_int_equal(hundredth(1, 0), hundredth(1, 0));
	assert_int_not_equal(hundredth(1, 0), hundredth(2, 0));
	assert_int_not_equal(hundredth(1, 0), hundredth(1, 1));
	assert_int_not_equal(hundredth(1, 1), hundredth(2, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(periods_are_exact),
		cmocka_unit_test(what_is_due_later_than_any_test_is_never_due),
		cmocka_unit_test(messages_until_an_instant_are_counted),
		cmocka_unit_test(random_gaps_are_exponential),
		cmocka_unit_test(the_seed_and_the_worker_decide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
