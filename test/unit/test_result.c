/* Derived figures against closed forms, and the wire form of a rank's result against truncation and nonsense. */
#include "base/buf.h"
#include "base/hist.h"
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

#define NEAR(a, b) assert_true(fabs((a) - (b)) <= 1e-9 * fabs(b))

/* A client and a server of the given number of workers, one second of window each, nothing counted. */
static void make(struct result *result, uint32_t workers, bool hists)
{
	struct request request;

	request_init(&request);
	request.spec.size = 65536;
	request.spec.verb = VERB_WRITE;
	result_init(result, &request, 2);
	assert_int_equal(result->ranks, 2);
	result->measured = true;
	result->rank[0].active = true;
	result->rank[0].delivery = true;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(rank_result_alloc(&result->rank[i], workers, hists), 0);
		for (uint32_t w = 0; w < workers; w++) {
			result->rank[i].worker[w].begin_ns = 1000000000;
			result->rank[i].worker[w].end_ns = 2000000000;
		}
	}
}

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
	assert_true(rank_window(&result.rank[0], &window));
	NEAR(window.begin_skew, 3e-6);
	NEAR(window.end_skew, 5e-6);
	NEAR(window.edge_error, 0.01);
	NEAR(window.edge_bracket, 900e-9);
	assert_int_equal(window.begin_ns, 1000000000 - 250);
	assert_int_equal(window.end_ns, 2000000000 - 250);
	NEAR(rank_window_skew(&result.rank[0]), 5e-6);
	NEAR(rank_edge_error(&result.rank[0]), 0.01);
	assert_true(isnan(rank_edge_error(&result.rank[1])));
	assert_true(rank_cpu(&result.rank[0], &cpu));
	NEAR(cpu.user, 0.5);
	NEAR(cpu.system, 0.499996);
	NEAR(cpu.percent, 50.0);
	result.rank[1].worker[0].end_ns = result.rank[1].worker[1].end_ns = 0;
	assert_false(rank_window(&result.rank[1], &window));
	assert_false(rank_cpu(&result.rank[1], &cpu));
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

/* Samples 1 ... 1000 us over two workers. */
static void record_thousand(struct result *result)
{
	for (unsigned i = 1; i <= 1000; i++)
		hist_record(result->rank[0].worker[i % 2].hist, (uint64_t)i * 1000);
}

static const char *const verbs_text[] = { "halved", "completion" };

static void test_latency(void **state)
{
	const enum verb verbs[] = { VERB_SEND, VERB_READ };
	struct result result;
	struct latency latency;

	(void)state;
	for (unsigned v = 0; v < 2; v++) {
		const double scale = v == 0 ? 0.5 : 1;

		make(&result, 2, true);
		assert_false(result_latency(&result, &latency));
		result.request.spec.verb = verbs[v];
		memset(result.request.spec.percentiles, 0, sizeof(result.request.spec.percentiles));
		result.request.spec.percentiles[0] = 50;
		result.request.spec.percentiles[1] = 99;
		record_thousand(&result);
		assert_true(result_latency(&result, &latency));
		assert_string_equal(verbs_text[v], latency.halved ? "halved" : "completion");
		assert_int_equal(latency.samples, 1000);
		NEAR(latency.min, scale * 1);
		NEAR(latency.max, scale * 1000);
		NEAR(latency.mean, scale * 500.5);
		assert_true(fabs(latency.median - scale * 500) <= scale * 500 * 0.008);
		NEAR(latency.stddev, scale * sqrt((1000.0 * 1000.0 - 1) / 12));
		assert_int_equal(latency.percentiles, 3); /* 50, 99 (once) and 99.9 */
		NEAR(latency.percentile[0].p, 50.0);
		NEAR(latency.percentile[1].p, 99.0);
		assert_true(fabs(latency.percentile[1].us - scale * 990) <= scale * 990 * 0.008);
		assert_int_equal(latency.percentile[1].beyond, 10);
		assert_true(latency.percentile[1].significant);
		NEAR(latency.percentile[2].p, 99.9);
		assert_int_equal(latency.percentile[2].beyond, 1);
		assert_false(latency.percentile[2].significant);
		result_release(&result);
	}
}

static void test_outlier_is_the_maximum(void **state)
{
	struct result result;
	struct latency latency;

	(void)state;
	make(&result, 1, true);
	result.request.spec.verb = VERB_READ;
	for (unsigned i = 0; i < 999999; i++)
		hist_record(result.rank[0].worker[0].hist, 5000);
	hist_record(result.rank[0].worker[0].hist, 10000000);
	assert_true(result_latency(&result, &latency));
	NEAR(latency.max, 10000.0);
	assert_true(fabs(latency.median - 5.0) <= 0.008 * 5.0);
	assert_true(fabs(latency.percentile[latency.percentiles - 1].us - 5.0) <= 0.008 * 5.0);
	result_release(&result);
}

static void test_many_percentiles(void **state)
{
	struct result result;
	struct latency latency;

	(void)state;
	make(&result, 1, true);
	for (unsigned i = 0; i < SPEC_MAX_PERCENTILES; i++)
		result.request.spec.percentiles[i] = 1 + i;
	hist_record(result.rank[0].worker[0].hist, 5000);
	assert_true(result_latency(&result, &latency));
	assert_int_equal(latency.percentiles, SPEC_MAX_PERCENTILES + 2);
	for (unsigned i = 1; i < latency.percentiles; i++)
		assert_true(latency.percentile[i].p > latency.percentile[i - 1].p);
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

/* A rank that uses every field. */
static void make_full(struct result *result)
{
	struct rank_result *rank;

	make(result, 3, true);
	rank = &result->rank[0];
	strcpy(rank->host, "alpha");
	strcpy(rank->version, "1.2.3");
	rank->clock_offset_ns = -12345;
	rank->clock_error_ns = 678;
	rank->rss_bytes = 1 << 20;
	rank->cores_shared = true;
	facts_add(&rank->facts, "device", "Device", "rxe0");
	facts_add_number(&rank->facts, "mtu", "MTU", 1024);
	error_set(&rank->error, -EIO, "something broke");
	for (unsigned w = 0; w < 3; w++) {
		rank->worker[w].core = 4 + w;
		rank->worker[w].numa = w == 2 ? -1 : (int32_t)w;
		rank->worker[w].sent = UINT64_MAX - w;
		rank->worker[w].has_loss = true;
		rank->worker[w].intervals = 2;
		rank->worker[w].interval_ns = 100;
		rank->worker[w].interval_msgs[1] = 9;
		hist_record(rank->worker[w].hist, 1000 + w);
	}
	free(rank->worker[1].hist);
	rank->worker[1].hist = NULL;
}

static void test_pack_round_trip(void **state)
{
	struct buf first = BUF_INIT, second = BUF_INIT;
	struct rank_result back;
	struct cursor cursor;
	struct result result;

	(void)state;
	make_full(&result);
	rank_result_pack(&result.rank[0], &first);
	assert_int_equal(first.failed, 0);
	cursor_init(&cursor, first.data, first.len);
	assert_int_equal(rank_result_unpack(&back, &cursor), 0);
	assert_int_equal(cursor.left, 0);
	assert_string_equal(back.host, "alpha");
	assert_int_equal(back.workers, 3);
	assert_int_equal(back.clock_offset_ns, -12345);
	assert_int_equal(back.worker[2].numa, -1);
	assert_null(back.worker[1].hist);
	assert_int_equal(back.worker[2].hist->max, 1002);
	assert_string_equal(back.error.text, "something broke");
	assert_string_equal(facts_get(&back.facts, "device"), "rxe0");
	rank_result_pack(&back, &second);
	assert_int_equal(first.len, second.len);
	assert_memory_equal(first.data, second.data, first.len);
	buf_release(&first);
	buf_release(&second);
	rank_result_release(&back);
	result_release(&result);
}

static void test_pack_truncated(void **state)
{
	struct rank_result back;
	struct buf buf = BUF_INIT;
	struct cursor cursor;
	struct result result;

	(void)state;
	make_full(&result);
	rank_result_pack(&result.rank[0], &buf);
	memset(&back, 0x5a, sizeof(back));
	for (size_t len = 0; len < buf.len; len++) {
		cursor_init(&cursor, buf.data, len);
		assert_int_equal(rank_result_unpack(&back, &cursor), -EPROTO);
	}
	for (size_t i = 0; i < sizeof(back); i++)
		assert_int_equal(((const unsigned char *)&back)[i], 0x5a);
	buf_release(&buf);
	result_release(&result);
}

/* Every byte changed in turn: refused or read, never out of bounds (the sanitizers watch) and never more than asked. */
static void test_pack_corrupted(void **state)
{
	struct buf buf = BUF_INIT;
	struct cursor cursor;
	struct result result;
	unsigned refused = 0;

	(void)state;
	make_full(&result);
	rank_result_pack(&result.rank[0], &buf);
	for (size_t i = 0; i < buf.len; i++) {
		struct rank_result back = { 0 };
		int rc;

		buf.data[i] ^= 0xff;
		cursor_init(&cursor, buf.data, buf.len);
		rc = rank_result_unpack(&back, &cursor);
		assert_true(rc == 0 || rc == -EPROTO);
		assert_true(back.workers <= 3);
		refused += rc != 0;
		rank_result_release(&back);
		buf.data[i] ^= 0xff;
	}
	assert_true(refused > 50);
	buf_release(&buf);
	result_release(&result);
}

static void test_pack_too_many_workers(void **state)
{
	struct rank_result rank = { 0 }, back;
	struct buf buf = BUF_INIT;
	struct cursor cursor;

	(void)state;
	rank_result_pack(&rank, &buf); /* ends with the number of workers, 0 */
	for (unsigned i = 1; i <= 4; i++)
		buf.data[buf.len - i] = i == 1 ? 0 : 0xff;
	cursor_init(&cursor, buf.data, buf.len);
	assert_int_equal(rank_result_unpack(&back, &cursor), -EPROTO);
	buf_release(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rate_closed_form),
		cmocka_unit_test(test_rate_windows_differ),
		cmocka_unit_test(test_receiver_counts_received),
		cmocka_unit_test(test_authority),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_steadiness),
		cmocka_unit_test(test_intervals_fold),
		cmocka_unit_test(test_steady_limits),
		cmocka_unit_test(test_latency),
		cmocka_unit_test(test_outlier_is_the_maximum),
		cmocka_unit_test(test_many_percentiles),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_thresholds),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_pack_round_trip),
		cmocka_unit_test(test_pack_truncated),
		cmocka_unit_test(test_pack_corrupted),
		cmocka_unit_test(test_pack_too_many_workers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
