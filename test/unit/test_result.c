/* Derived figures against closed forms: rates, windows, authority, steadiness, loss, thresholds, facts. */
#include "base/buf.h"
#include "base/hist.h"
#include "pair.h"
#include "spec/result.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_rate_closed_form(void **state)
{
	struct result result;
	struct rate rate;

	(void)state;
	make(&result, 1, false);
	result.rank[0].worker[0].sent = 1000000;
	result.rank[0].worker[0].end_ns = 1000000000 + 5242880000;
	rate = rank_rate(&result, &result.rank[0]);
	NEAR(rate.gbps, 100.0);
	NEAR(rate.mpps, 1.0 / 5.24288);
	NEAR(rate.seconds, 5.24288);
	assert_int_equal(rate.messages, 1000000);
	assert_int_equal(rate.bytes, UINT64_C(65536000000));
	result_release(&result);
}

/* Each worker's own window divides its own count: 1000 in 1 s and 1000 in 2 s are 1500 a second, not 2000 in 1.5. */
static void test_rate_windows_differ(void **state)
{
	struct result result;
	struct rate rate;

	(void)state;
	make(&result, 3, false);
	result.rank[0].worker[0].sent = 1000;
	result.rank[0].worker[1].sent = 1000;
	result.rank[0].worker[1].end_ns = 3000000000;
	result.rank[0].worker[2].end_ns = result.rank[0].worker[2].begin_ns; /* took no window */
	result.rank[0].worker[2].sent = 77;
	rate = rank_rate(&result, &result.rank[0]);
	NEAR(rate.mpps, 1500e-6);
	NEAR(rate.seconds, 1.5);
	assert_int_equal(rate.messages, 2000);
	rate = rank_rate(&result, NULL);
	assert_true(rate.gbps == 0 && rate.seconds == 0 && rate.messages == 0);
	result_release(&result);
}

static void test_receiver_counts_received(void **state)
{
	struct result result;

	(void)state;
	make(&result, 1, false);
	result.rank[0].worker[0].sent = 5;
	result.rank[0].worker[0].received = 6;
	result.rank[1].worker[0].sent = 7;
	result.rank[1].worker[0].received = 8;
	assert_int_equal(rank_rate(&result, &result.rank[0]).messages, 5);
	assert_int_equal(rank_rate(&result, &result.rank[1]).messages, 8);
	result_release(&result);
}

static void test_authority(void **state)
{
	struct result result;
	struct request request;

	(void)state;
	make(&result, 1, false);
	assert_ptr_equal(result_sender(&result), &result.rank[0]);
	assert_ptr_equal(result_receiver(&result), &result.rank[1]);
	result.rank[1].counts_received = true;
	assert_ptr_equal(result_authority(&result), &result.rank[0]);
	result.rank[0].delivery = false;
	assert_ptr_equal(result_authority(&result), &result.rank[1]);
	result.request.spec.metric = METRIC_LAT;
	assert_ptr_equal(result_authority(&result), &result.rank[0]);
	result.request.spec.metric = METRIC_BW;
	result.rank[1].counts_received = false;
	assert_ptr_equal(result_authority(&result), &result.rank[0]);
	result_release(&result);

	request_init(&request);
	result_init(&result, &request, 0);
	assert_null(result_authority(&result));
	assert_null(result_sender(&result));
	result_release(&result);
	result_release(NULL);
}

static void test_window(void **state)
{
	struct result result;
	struct window window;
	struct cpu_time cpu;

	(void)state;
	make(&result, 2, false);
	result.rank[0].worker[1].begin_ns += 3000;
	result.rank[0].worker[1].end_ns -= 5000;
	result.rank[0].worker[0].sent = 600;
	result.rank[0].worker[1].sent = 400;
	result.rank[0].worker[0].edge_begin = 3;
	result.rank[0].worker[1].edge_end = 7;
	result.rank[0].worker[1].edge_error_ns = 900;
	result.rank[0].worker[0].cpu_user_ns = 500000000;
	result.rank[0].worker[1].cpu_system_ns = 499996000;
	result.rank[0].clock_offset_ns = 250;
	assert_true(rank_window(&result, &result.rank[0], &window));
	NEAR(window.begin_skew, 3e-6);
	NEAR(window.end_skew, 5e-6);
	NEAR(window.edge_error, 0.01);
	NEAR(window.edge_bracket, 900e-9);
	assert_int_equal(window.begin_ns, 1000000000 - 250);
	assert_int_equal(window.end_ns, 2000000000 - 250);
	assert_true(rank_cpu(&result.rank[0], &cpu));
	NEAR(cpu.user, 0.5);
	NEAR(cpu.system, 0.499996);
	NEAR(cpu.percent, 50.0);
	result.rank[1].worker[0].end_ns = result.rank[1].worker[1].end_ns = 0;
	assert_false(rank_window(&result, &result.rank[1], &window));
	assert_false(rank_cpu(&result.rank[1], &cpu));
	result_release(&result);
}

static double edge_error_of(const struct result *result, unsigned rank)
{
	struct window window;

	assert_true(rank_window(result, &result->rank[rank], &window));
	return window.edge_error;
}

/* What an edge may cut: what is outstanding at the sender; of a stream and at the receiver a message a QP. */
static void test_edge_error(void **state)
{
	struct result result;

	(void)state;
	make(&result, 2, false);
	for (unsigned w = 0; w < 2; w++) {
		result.rank[0].worker[w].sent = 500;
		result.rank[0].worker[w].edge_begin = result.rank[0].worker[w].edge_end = 5;
		result.rank[1].worker[w].received = 400;
		result.rank[0].worker[w].qps = result.rank[1].worker[w].qps = 3;
	}
	NEAR(edge_error_of(&result, 0), 0.02);
	assert_true(isnan(edge_error_of(&result, 1)));
	result.rank[1].counts_received = true;
	NEAR(edge_error_of(&result, 1), 12.0 / 800);
	result.request.spec.transport = TRANSPORT_TCP;
	NEAR(edge_error_of(&result, 0), 12.0 / 1000);
	result.request.spec.iterations = 500;
	NEAR(edge_error_of(&result, 0), 0.0);
	NEAR(edge_error_of(&result, 1), 0.0);
	result.request.spec.metric = METRIC_LAT;
	assert_true(isnan(edge_error_of(&result, 0)));
	result_release(&result);
}

/* 125,000 messages of 1000 bytes in 10 ms are 100 Gb/s. */
static void fill_intervals(struct worker_result *worker, unsigned n, const uint64_t *msgs)
{
	worker->interval_ns = 10000000;
	worker->intervals = n;
	memcpy(worker->interval_msgs, msgs, n * sizeof(*msgs));
}

static void test_steadiness(void **state)
{
	uint64_t msgs[200];
	struct result result;
	struct steadiness steady;

	(void)state;
	make(&result, 2, false);
	result.request.spec.size = 1000;
	for (unsigned i = 0; i < 200; i++) /* in disorder: 1 ... 200 Gb/s in steps of 1 */
		msgs[i] = 1250 * ((i * 67) % 200 + 1) / 2;
	for (unsigned w = 0; w < 2; w++)
		fill_intervals(&result.rank[0].worker[w], 200, msgs);
	assert_true(rank_steadiness(&result, &result.rank[0], &steady));
	assert_int_equal(steady.intervals, 200);
	NEAR(steady.interval_seconds, 0.01);
	NEAR(steady.min, 1.0);
	NEAR(steady.p1, 2.0); /* 1 % of 200: the second lowest */
	NEAR(steady.median, 100.0);
	NEAR(steady.max, 200.0);
	result.rank[0].worker[1].intervals = 9;
	assert_false(rank_steadiness(&result, &result.rank[0], &steady));
	assert_false(rank_steadiness(&result, NULL, &steady));
	result_release(&result);
}

/* A worker with intervals half as long is summed in pairs; lengths that do not divide give none. */
static void test_intervals_fold(void **state)
{
	const uint64_t fine[] = { 1, 2, 3, 4, 5 }, coarse[] = { 10, 20, 30 };
	double gbps[RESULT_INTERVALS], seconds;
	struct result result;

	(void)state;
	make(&result, 2, false);
	result.request.spec.size = 1250000; /* 10^7 bits: one message in 10 ms is 1 Gb/s */
	fill_intervals(&result.rank[0].worker[0], 5, fine);
	fill_intervals(&result.rank[0].worker[1], 3, coarse);
	result.rank[0].worker[0].interval_ns = 5000000;
	assert_int_equal(rank_intervals(&result, &result.rank[0], gbps, &seconds), 2);
	NEAR(seconds, 0.01);
	NEAR(gbps[0], 13.0);
	NEAR(gbps[1], 27.0);
	result.rank[0].worker[0].interval_ns = 7000000;
	assert_int_equal(rank_intervals(&result, &result.rank[0], gbps, &seconds), 0);
	result_release(&result);
}

static void test_steady_limits(void **state)
{
	struct result result;
	struct worker_result *worker;

	(void)state;
	make(&result, 1, true);
	worker = &result.rank[0].worker[0];
	worker->sent = 10000;
	assert_true(result_is_steady(&result));
	worker->sent = 9999;
	assert_false(result_is_steady(&result));
	worker->sent = 10000;
	worker->end_ns = worker->begin_ns + 989000000;
	assert_false(result_is_steady(&result));
	worker->end_ns = worker->begin_ns + 1000000000;
	result.request.spec.metric = METRIC_LAT;
	assert_false(result_is_steady(&result));
	for (unsigned i = 0; i < 10000; i++)
		hist_record(worker->hist, 100);
	assert_true(result_is_steady(&result));
	result_release(&result);
}

static void test_loss(void **state)
{
	struct result result;
	struct loss loss;

	(void)state;
	make(&result, 2, false);
	result.rank[0].worker[0].total_sent = 700;
	result.rank[0].worker[1].total_sent = 300;
	result.rank[1].worker[0].total_received = 690;
	result.rank[1].worker[1].total_received = 299;
	assert_false(result_loss(&result, &loss));
	result.rank[1].counts_received = true;
	result.rank[1].worker[0].has_loss = true;
	result.rank[1].worker[0].duplicated = 4;
	assert_true(result_loss(&result, &loss));
	assert_int_equal(loss.sent, 1000);
	assert_int_equal(loss.received, 989);
	assert_int_equal(loss.lost, 11);
	assert_false(loss.sequenced);
	assert_int_equal(loss.duplicated, 0);
	result.rank[1].worker[1].has_loss = true;
	result.rank[1].worker[1].reordered = 2;
	assert_true(result_loss(&result, &loss));
	assert_true(loss.sequenced);
	assert_int_equal(loss.duplicated, 4);
	assert_int_equal(loss.reordered, 2);
	result.rank[1].worker[0].total_received = 9000;
	assert_true(result_loss(&result, &loss));
	assert_int_equal(loss.lost, 0);
	result_release(&result);
}

static void test_thresholds(void **state)
{
	struct result result;

	(void)state;
	make(&result, 1, true);
	result.rank[0].worker[0].end_ns = 1000000000 + 5242880000;
	result.rank[0].worker[0].sent = 1000000;
	assert_int_equal(result_bw_threshold(&result), 0);
	result.request.spec.bw_threshold = 99.999;
	assert_int_equal(result_bw_threshold(&result), 1);
	result.request.spec.bw_threshold = 100.001;
	assert_int_equal(result_bw_threshold(&result), -1);
	result.request.spec.bw_threshold = 1;
	result.measured = false;
	assert_int_equal(result_bw_threshold(&result), -1);
	result.measured = true;
	assert_int_equal(result_lat_threshold(&result), 0);
	result.request.spec.metric = METRIC_LAT;
	assert_int_equal(result_bw_threshold(&result), 0);
	result.request.spec.lat_threshold = 2.5;
	assert_int_equal(result_lat_threshold(&result), -1); /* no sample */
	hist_record(result.rank[0].worker[0].hist, 5000); /* half of it is 2.5 us */
	assert_int_equal(result_lat_threshold(&result), 1);
	result.request.spec.lat_threshold = 2.4;
	assert_int_equal(result_lat_threshold(&result), -1);
	result_release(&result);
}

static void test_facts(void **state)
{
	struct facts facts = { 0 };
	char key[16];

	(void)state;
	facts_add(&facts, "device", "Device", "rxe%d", 0);
	facts_add_number(&facts, "mtu", "MTU", 1024);
	facts_add_number(&facts, "mtu", "MTU", 4096);
	assert_int_equal(facts.count, 2);
	assert_string_equal(facts_get(&facts, "device"), "rxe0");
	assert_string_equal(facts_get(&facts, "mtu"), "4096");
	assert_true(facts.fact[1].number);
	assert_null(facts_get(&facts, "gid"));
	for (unsigned i = 0; i < 2 * RESULT_FACTS; i++) {
		snprintf(key, sizeof(key), "k%u", i);
		facts_add_number(&facts, key, "K", i);
	}
	assert_int_equal(facts.count, RESULT_FACTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rate_closed_form),
		cmocka_unit_test(test_rate_windows_differ),
		cmocka_unit_test(test_receiver_counts_received),
		cmocka_unit_test(test_authority),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_edge_error),
		cmocka_unit_test(test_steadiness),
		cmocka_unit_test(test_intervals_fold),
		cmocka_unit_test(test_steady_limits),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_thresholds),
		cmocka_unit_test(test_facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
