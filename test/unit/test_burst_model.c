/* Closed forms of bursts: the tables of a 16-port incast in right units, knee, overlap, ECN, PFC headroom, buffers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "model/burst.h"

#define MB    1e6
#define US    1e-6
#define GBIT  (1e9 / 8)
#define KIB64 65536.0

static void near(double is, double want, double slack)
{
	if (!(fabs(is - want) <= slack))
		fail_msg("%.9g is not %.9g within %.3g", is, want, slack);
}

/* 15 senders of 400 Gb/s into one such port, bursts of so many messages of 64 KiB, 50.5 MB for the queue. */
static struct burst incast(double messages)
{
	return (struct burst){
		.senders = 15, .bytes = messages * KIB64, .rate = 400 * GBIT, .drain = 400 * GBIT, .limit = 50.5 * MB
	};
}

/* Burst size, length, net growth, and what is lost: without a rounded figure above the source's table. */
static void test_incast_table(void **state)
{
	static const struct {
		double messages, us, net_mb, share, drop_mb, loss, graph;
	} row[] = {
		{ 30, 39.3, 27.5, 54.5, 0, 0, 7.3 },         { 45, 59.0, 41.3, 81.8, 0, 0, 10.9 },
		{ 58, 76.0, 53.2, 105.4, 2.7, 4.8, 13.9 },   { 70, 91.8, 64.2, 127, 13.7, 20, 16.7 },
		{ 100, 131.1, 91.8, 182, 41.3, 42, 23.4 },   { 150, 196.6, 137.6, 272, 87.1, 59, 34.1 },
		{ 300, 393.2, 275.3, 545, 224.8, 76, 62.8 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct burst burst = incast(row[i].messages);

		near(burst_length(&burst), row[i].us * US, 0.05 * US);
		near(burst_unlimited(&burst), row[i].net_mb * MB, 0.05 * MB);
		near(100 * burst_unlimited(&burst) / burst.limit, row[i].share, 0.6);
		near(burst_peak(&burst), fmin(row[i].net_mb, 50.5) * MB, 0.05 * MB);
		near(burst_drop(&burst), row[i].drop_mb * MB, 0.05 * MB);
		near(100 * burst_drop(&burst) / (15 * burst.bytes), row[i].loss, 0.5);
		burst.cycle = burst_length(&burst) + 110 * US + 2e-3;
		near(burst_sender_average(&burst), row[i].graph * GBIT, 0.05 * GBIT);
		near(burst_drop(&burst), row[i].drop_mb * MB, 0.05 * MB); /* the pause is long enough to drain */
	}
}

static void test_fill_knee_and_drain(void **state)
{
	struct burst burst = incast(61);

	(void)state;
	near(burst_net(&burst), 5600 * GBIT, 1);
	near(burst_net(&burst) * US, 0.7 * MB, 1);
	near(burst_fill(&burst), 72.1 * US, 0.05 * US);
	near(burst_knee(&burst) / KIB64, 55.0, 0.05);
	burst.limit = 33.667 * MB; /* alpha = 1/2 of 101 MB */
	near(burst_knee(&burst) / KIB64, 36.7, 0.05);
	near(burst_fill(&burst), 48.1 * US, 0.05 * US);
	burst = incast(45);
	near(burst_fill(&burst), 72.1 * US, 0.05 * US); /* more than it lasts */
	burst.limit = 33.667 * MB;
	near(100 * burst_drop(&burst) / (15 * burst.bytes), 17, 0.5);
	burst = incast(58);
	burst.limit = 33.667 * MB;
	near(100 * burst_drop(&burst) / (15 * burst.bytes), 34, 0.5);
}

/* A microsecond of skew is 0.05 MB at 400 Gb/s; knee and peak say the same. */
static void test_skew(void **state)
{
	struct burst burst = incast(30);

	(void)state;
	near(burst_unlimited(&burst), 27.53 * MB, 0.005 * MB);
	burst.skew = 15 * US;
	near(burst_unlimited(&burst), 26.78 * MB, 0.005 * MB);
	assert_true(burst_is_exact(&burst));
	burst.bytes = burst_knee(&burst);
	near(burst_unlimited(&burst), burst.limit, 1);
	near(burst_drop(&burst), 0, 1e-3);
	burst = incast(1);
	burst.bytes = 5 * US * burst.rate;
	burst.skew = 50 * US;
	assert_true(burst_is_exact(&burst)); /* 3.6 us apart */
	burst.skew = 75 * US;
	assert_false(burst_is_exact(&burst));
}

static void test_overlap(void **state)
{
	struct burst burst = incast(1);

	(void)state;
	burst.bytes = 50 * US * burst.rate;
	burst.skew = 15 * US;
	near(burst_overlap(&burst, 15), 35 * US, 1e-12);
	near(burst_overlap(&burst, 1), 65 * US, 1e-12);
	near(burst_overlap(&burst, 8), 50 * US, 1e-12);
	assert_true(burst_overlap(&burst, 16) == 0);
	burst.bytes = 5 * US * burst.rate;
	assert_true(burst_overlap(&burst, 15) == 0);
	assert_true(burst_overlap(&burst, 4) > 0);
}

/* On for a while, then off: excess is not what a buffer holds. */
static void test_training_incast(void **state)
{
	static const struct {
		double ms, drop, loss, sender;
	} row[] = {
		{ 1, 649.5 * MB, 86.6, 3.96 },
		{ 5, 3449.5 * MB, 92.0, 19.05 },
		{ 50, 34949.5 * MB, 93.2, 133.3 },
		{ 100, 69949.5 * MB, 93.3, 200 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct burst burst = incast(1);

		burst.bytes = row[i].ms * 1e-3 * burst.rate;
		burst.cycle = (row[i].ms + 100) * 1e-3;
		near(burst_drop(&burst), row[i].drop, 0.05 * MB);
		near(100 * burst_drop(&burst) / (15 * burst.bytes), row[i].loss, 0.05);
		near(burst_sender_average(&burst), row[i].sender * GBIT, 0.05 * GBIT);
		assert_true(burst_peak(&burst) == burst.limit);
	}
}

/* Each flow in a rhythm of its own: at worst all at once. */
static void test_storage_incast(void **state)
{
	struct burst burst = incast(1);

	(void)state;
	burst.bytes = 61 * 4096;
	near(burst_length(&burst), 5.0 * US, 0.005 * US);
	burst.cycle = burst.bytes / (25 * GBIT);
	near(burst.cycle, 79.95392 * US, 1e-11);
	near(burst_peak(&burst), 3.50 * MB, 0.005 * MB);
	near(15 * burst.bytes, 3.75 * MB, 0.005 * MB);
	assert_false(burst_overloads(&burst));
	assert_true(burst_drop(&burst) == 0);
	burst.cycle = burst.bytes / (30 * GBIT);
	assert_true(burst_overloads(&burst));
	near(100 * burst_drop(&burst) / (15 * burst.bytes), 11.1, 0.05);
	near(burst_fill(&burst), 8.1e-3, 0.05e-3);
	near(burst_knee(&burst), burst.drain * burst.cycle / 15, 1e-3);
	burst.limit = INFINITY;
	assert_true(isinf(burst_peak(&burst)) && burst_drop(&burst) == 0);
}

static void test_buffers(void **state)
{
	struct buffer buffer = { .pool = 101 * MB, .alpha = 0.5 };
	double pool, alpha;

	(void)state;
	near(buffer_limit(&buffer, 1), 33.67 * MB, 0.005 * MB);
	near(buffer_limit(&buffer, 2), 25.25 * MB, 0.005 * MB);
	buffer.alpha = 1;
	near(buffer_limit(&buffer, 1), 50.5 * MB, 1e-3);
	near(buffer_limit(&buffer, 2), 33.67 * MB, 0.005 * MB);
	buffer.alpha = 8;
	near(buffer_limit(&buffer, 2), 47.53 * MB, 0.005 * MB);
	near(buffer_alpha(101 * MB, buffer_limit(&buffer, 1)), 8, 1e-9);
	assert_true(buffer_alpha(101 * MB, 101 * MB) < 0);
	assert_true(buffer_infer(buffer_limit(&buffer, 1), buffer_limit(&buffer, 2), &pool, &alpha));
	near(pool, 101 * MB, 1);
	near(alpha, 8, 1e-6);
	assert_false(buffer_infer(10 * MB, 10 * MB, &pool, &alpha));
	buffer = (struct buffer){ .limit = 7 * MB };
	assert_true(buffer_limit(&buffer, 5) == 7 * MB);
	buffer = (struct buffer){ .pool = 3, .alpha = 2 }; /* one queue takes 66.67 % */
	near(buffer_limit(&buffer, 1), 2, 1e-9);
}

static void test_wire(void **state)
{
	(void)state;
	near(link_payload(400, 4096), 392.1, 0.05);
	near(link_payload(400, 1024), 370.3, 0.05);
	near(100 * link_payload(1, 2048), 96.2, 0.05);
	near(58 * KIB64 / link_payload(400 * GBIT, 1024), 82.1 * US, 0.05 * US);
	near(58 * KIB64 / link_payload(400 * GBIT, 2048), 79.1 * US, 0.05 * US);
	near(58 * KIB64 / link_payload(400 * GBIT, 4096), 77.5 * US, 0.05 * US);
	near(burst_in_flight(15, 1, 128, KIB64), 126 * MB, 0.5 * MB);
}

static void test_marking_and_pausing(void **state)
{
	static const struct {
		double gbit, metres, kib;
	} row[] = { { 100, 40, 47 }, { 400, 40, 94 }, { 400, 300, 222 }, { 800, 300, 370 } };
	const struct ecn ecn = { .kmin = 100, .kmax = 300, .pmax = 0.2 };
	const struct burst burst = incast(61);

	(void)state;
	near(ecn_time(&burst, 1.6 * MB), 2.3 * US, 0.05 * US);
	near(ecn_uncontrolled(&burst, 1.6 * MB, 5 * US), 15 * burst.rate * 7.29 * US, 0.01 * MB);
	assert_true(ecn_share(&ecn, 100) == 0 && ecn_share(&ecn, 300) == 1);
	near(ecn_share(&ecn, 200), 0.1, 1e-12);
	near(ecn_mean(&ecn, 0, 400), (0.1 * 200 + 100) / 400, 1e-12);
	near(ecn_mean(&ecn, 250, 150), 0.1, 1e-12);
	near(ecn_mean(&ecn, 200, 200), 0.1, 1e-12);
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const struct pfc_port port = { .link = row[i].gbit * GBIT, .cable = row[i].metres, .mtu = 9100 };

		near(pfc_headroom(&port) / 1024, row[i].kib, 0.5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_incast_table),
		cmocka_unit_test(test_fill_knee_and_drain),
		cmocka_unit_test(test_skew),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_training_incast),
		cmocka_unit_test(test_storage_incast),
		cmocka_unit_test(test_buffers),
		cmocka_unit_test(test_wire),
		cmocka_unit_test(test_marking_and_pausing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
