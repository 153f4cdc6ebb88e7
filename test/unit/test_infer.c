/* The buffer from what was lost: bursts with starts and lengths of their own, against the closed form and the way back. */
#include "model/infer.h"

#include "base/error.h"
#include "base/lot.h"
#include "model/knee.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define N     15
#define BYTES 3.80e6
#define RATE  50e9
#define LIMIT 50.5e6

static void near(double is, double want, double slack)
{
	if (!(fabs(is - want) <= slack))
		fail_msg("%.9g is not %.9g within %.3g", is, want, slack);
}

/* N senders of the same rate as the drain, their starts evenly apart. */
static void fill(struct arrival *arrival, double skew)
{
	for (int i = 0; i < N; i++) {
		const double start = skew * i / (N - 1);

		arrival[i] = (struct arrival){ start, start + BYTES / RATE, BYTES };
	}
}

static void test_closed_form(void **state)
{
	const double skews[] = { 0, 1e-6, 15e-6, 50e-6 };
	struct arrival arrival[N];

	(void)state;
	for (unsigned i = 0; i < sizeof(skews) / sizeof(skews[0]); i++) {
		const double lost = (N - 1) * BYTES - RATE * skews[i] - LIMIT;
		struct infer infer;

		fill(arrival, skews[i]);
		assert_int_equal(infer_init(&infer, arrival, N, RATE, NULL), 0);
		near(infer_loss(&infer, LIMIT), fmax(lost, 0), 10);
		near(infer_loss(&infer, INFINITY), 0, 0);
		if (lost > 0)
			near(infer_limit(&infer, lost), LIMIT, 10);
		near(infer_limit(&infer, 0), (N - 1) * BYTES - RATE * skews[i], 10);
		infer_release(&infer);
	}
}

/* Instants of any kind, bursts that pile up, a sender that comes when all is over: what is lost leads back to the limit. */
static void test_way_back(void **state)
{
	struct arrival arrival[100];
	struct lot lot;

	(void)state;
	lot_init(&lot, 7, 0);
	for (int round = 0; round < 50; round++) {
		const double limit = 1e5 * (1 + 9 * lot_uniform(&lot));
		struct infer infer;
		double lost;

		for (int i = 0; i < 100; i++) {
			const int burst = i / 4;
			const double start = burst * 0.01 + 0.004 * lot_uniform(&lot);

			arrival[i] = (struct arrival){ start, start + (i % 7) * 1e-4, 2e5 * lot_uniform(&lot) };
		}
		assert_int_equal(infer_init(&infer, arrival, 100, 25e6, NULL), 0);
		lost = infer_loss(&infer, limit);
		assert_true(lost >= 0 && lost < infer.bytes);
		if (lost > 0)
			near(infer_limit(&infer, lost), limit, 1);
		assert_true(infer_loss(&infer, limit / 2) > lost);
		infer_release(&infer);
	}
}

static void test_nothing_sent(void **state)
{
	struct infer infer;

	(void)state;
	assert_int_equal(infer_init(&infer, NULL, 0, RATE, NULL), 0);
	near(infer_loss(&infer, 0), 0, 0);
	near(infer_limit(&infer, 0), 0, 0);
	infer_release(&infer);
}

static void test_median(void **state)
{
	double value[] = { 5, 1, 4, 2, 3, 100 };
	struct infer_range range;

	(void)state;
	infer_median(value, 0, &range);
	assert_true(isnan(range.median) && isnan(range.low));
	infer_median(value, 5, &range);
	near(range.median, 3, 0);
	assert_true(isnan(range.low) && isnan(range.high));
	infer_median(value, 6, &range);
	near(range.median, 3.5, 0);
	near(range.low, 1, 0);
	near(range.high, 100, 0);
}

/* Three senders that are ten times as fast as the port; their completions are right, or come at once. */
static struct knee_point sent(const struct knee *knee, uint64_t messages, double skew, bool at_once)
{
	struct knee_point point = { .messages = messages, .sent = 30 * messages, .count = 30 };
	struct infer infer;

	point.arrival = calloc(point.count, sizeof(*point.arrival));
	for (uint32_t i = 0; point.arrival && i < point.count; i++) {
		const uint32_t burst = i / 3;
		const double start = burst * 0.1 + skew * (i % 3) / 2, bytes = (double)messages * knee->frame;

		point.arrival[i] = (struct arrival){ start, start + bytes / (10 * knee->drain), bytes };
	}
	assert_int_equal(infer_init(&infer, point.arrival, point.count, knee->drain, NULL), 0);
	point.lost = (uint64_t)floor(infer_loss(&infer, 200e3) / knee->frame);
	infer_release(&infer);
	for (uint32_t i = 0; at_once && i < point.count; i++)
		point.arrival[i].end = point.arrival[i].start;
	return point;
}

static void test_knee(void **state)
{
	struct knee knee = { .frame = 1442, .payload = 1400, .drain = 10e6, .connections = 3, .workers = 1 };
	uint64_t size[KNEE_SIZES];

	(void)state;
	for (uint64_t messages = 8; messages <= 256; messages *= 2) {
		const struct knee_point point = sent(&knee, messages, 1e-4, false);

		assert_int_equal(knee_add(&knee, &point, NULL), 0);
	}
	assert_int_equal(knee_end(&knee, NULL), 0);
	assert_int_equal(knee.clean, 32);
	assert_int_equal(knee.lossy, 64);
	assert_int_equal(knee.estimates, 1); /* of 128 and 256 too much was lost */
	near(knee.limit.median, 200e3, 500);
	for (unsigned round = 0; round < 2; round++) {
		const unsigned count = knee_next(&knee, UINT64_MAX, size);

		assert_in_range(count, round ? 0 : 8, KNEE_SIZES); /* 0: the first round was close enough */
		for (unsigned i = 0; i < count; i++) {
			const struct knee_point point = sent(&knee, size[i], 1e-5 * i, round && i % 2);

			assert_true(i == 0 || size[i] > size[i - 1]);
			assert_int_equal(knee_add(&knee, &point, NULL), 0);
		}
		assert_int_equal(knee_end(&knee, NULL), 0);
	}
	near(knee.limit.median, 200e3, 5e3);
	assert_true(knee.limit.low <= knee.limit.median && knee.limit.median <= knee.limit.high);
	near(knee.messages.median, 200e3 / (2.9 * 1442), 1.5); /* N S - S / 10 = L */
	assert_true((double)knee.clean < knee.messages.median && (double)knee.lossy > knee.messages.median - 1);
	assert_false(knee.slow);
	knee_release(&knee);
}

/* As fast as the port, with completions of sockets, which come at once: sizes agree only if that isn't believed. */
static void test_knee_of_slow_senders(void **state)
{
	struct knee knee = { .frame = 1442, .payload = 1400, .drain = 10e6, .connections = 3, .workers = 1 };

	(void)state;
	for (uint64_t messages = 75; messages <= 200; messages += 25) {
		struct knee_point point = sent(&knee, messages, 0, true);
		const double lost = 2 * (double)messages * knee.frame - 200e3;

		point.lost = lost > 0 ? (uint64_t)(10 * lost / knee.frame) : 0;
		assert_int_equal(knee_add(&knee, &point, NULL), 0);
	}
	assert_int_equal(knee_end(&knee, NULL), 0);
	assert_true(knee.slow);
	near(knee.limit.median, 200e3, 500);
	near(knee.messages.median, 200e3 / (2 * 1442), 0.5);
	knee_release(&knee);
}

static void test_knee_of_nothing(void **state)
{
	struct knee knee = { .frame = 1442, .payload = 1400, .drain = 10e6, .connections = 3, .workers = 1 };
	const struct knee_point point = { .messages = 8, .sent = 100 };
	uint64_t size[KNEE_SIZES];

	(void)state;
	assert_int_equal(knee_end(&knee, NULL), 0);
	assert_int_equal(knee_next(&knee, UINT64_MAX, size), 0);
	assert_int_equal(knee_add(&knee, &point, NULL), 0);
	assert_int_equal(knee_end(&knee, NULL), 0);
	assert_int_equal(knee.estimates, 0);
	assert_int_equal(knee.clean, 8);
	assert_true(isnan(knee.limit.median) && isnan(knee.point[0].predicted));
	assert_int_equal(knee_next(&knee, UINT64_MAX, size), 0);
	knee_release(&knee);
}

/* Of the smallest burst there is all is lost: it has been looked at, and there is none between it and none. */
static void test_knee_of_too_little(void **state)
{
	struct knee knee = { .frame = 1442, .payload = 1400, .drain = 10e6, .connections = 3, .workers = 1 };
	const struct knee_point point = { .messages = 1, .sent = 30, .lost = 30 };
	uint64_t size[KNEE_SIZES];

	(void)state;
	assert_int_equal(knee_add(&knee, &point, NULL), 0);
	assert_int_equal(knee_end(&knee, NULL), 0);
	assert_int_equal(knee.clean, 0);
	assert_int_equal(knee.lossy, 1);
	assert_int_equal(knee_next(&knee, UINT64_MAX, size), 0);
	knee_release(&knee);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_closed_form),
		cmocka_unit_test(test_way_back),
		cmocka_unit_test(test_nothing_sent),
		cmocka_unit_test(test_median),
		cmocka_unit_test(test_knee),
		cmocka_unit_test(test_knee_of_slow_senders),
		cmocka_unit_test(test_knee_of_nothing),
		cmocka_unit_test(test_knee_of_too_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
