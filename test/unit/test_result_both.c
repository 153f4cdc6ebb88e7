/* Both directions: each counted by its own side in the common window, their sum, their loss, and windows by count. */
#include "base/buf.h"
#include "pair.h"
#include "spec/result.h"

#include <string.h>

static void make_two(struct result *result, uint32_t workers)
{
	make(result, workers, false);
	result->request.spec.bidirectional = true;
	for (unsigned i = 0; i < 2; i++) {
		result->rank[i].delivery = true;
		for (uint32_t w = 0; w < workers; w++) {
			result->rank[i].worker[w].sent = 1000 * (i + 1);
			result->rank[i].worker[w].received = 1000 * (2 - i) - 10;
			result->rank[i].worker[w].both_ways = true;
		}
	}
}

static void sum_is_of_both_senders(void **state)
{
	const double gbps = 65536 * 8 / 1e9;
	struct result result;
	struct direction way;
	struct rate rate;

	(void)state;
	make_two(&result, 3);
	assert_int_equal(result_directions(&result), 2);
	for (unsigned i = 0; i < 2; i++) {
		result_direction(&result, i, &way);
		assert_ptr_equal(result_sender(&way.result), &way.rank[i]);
		assert_ptr_equal(result_receiver(&way.result), &way.rank[1 - i]);
		assert_ptr_equal(result_authority(&way.result), &way.rank[i]);
		NEAR(rank_rate(&way.result, result_authority(&way.result)).gbps, 3000 * (i + 1) * gbps);
		assert_int_equal(result_directions(&way.result), 1);
		assert_int_equal(result_bw_threshold(&way.result), 0);
	}
	rate = result_rate(&result);
	NEAR(rate.gbps, 9000 * gbps);
	NEAR(rate.mpps, 0.009);
	NEAR(rate.seconds, 1.0);
	assert_int_equal(rate.messages, 9000);
	result.request.spec.bw_threshold = 9000 * gbps * 1.001;
	assert_int_equal(result_bw_threshold(&result), -1);
	result.request.spec.bw_threshold = 9000 * gbps * 0.999;
	assert_int_equal(result_bw_threshold(&result), 1);
	result_release(&result);
}

/* Where a completion does not mean delivery, each direction is counted where it arrives. */
static void receivers_count(void **state)
{
	struct result result;
	struct direction way;
	struct loss loss;

	(void)state;
	make_two(&result, 1);
	for (unsigned i = 0; i < 2; i++) {
		result.rank[i].delivery = false;
		result.rank[i].counts_received = true;
		result.rank[i].worker[0].total_sent = 5000;
		result.rank[i].worker[0].total_received = i ? 5000 : 4993;
		result.rank[i].worker[0].has_loss = true;
		result.rank[i].worker[0].reordered = i ? 0 : 2;
	}
	result_direction(&result, 0, &way);
	assert_ptr_equal(result_authority(&way.result), &way.rank[1]);
	assert_false(way.rank[0].counts_received);
	assert_int_equal(rank_rate(&way.result, &way.rank[1]).messages, 990);
	assert_true(result_loss(&way.result, &loss));
	assert_int_equal(loss.lost, 0);
	assert_int_equal(loss.reordered, 0);
	result_direction(&result, 1, &way);
	assert_ptr_equal(result_authority(&way.result), &way.rank[0]);
	assert_int_equal(rank_rate(&way.result, &way.rank[0]).messages, 1990);
	assert_true(result_loss(&way.result, &loss));
	assert_int_equal(loss.sent, 5000);
	assert_int_equal(loss.lost, 7);
	assert_int_equal(loss.reordered, 2);
	result_release(&result);
}

static void intervals_of_each_direction(void **state)
{
	double gbps[RESULT_INTERVALS], seconds;
	struct result result;
	struct direction way;

	(void)state;
	make_two(&result, 1);
	for (unsigned i = 0; i < 2; i++) {
		struct worker_result *worker = &result.rank[i].worker[0];

		worker->interval_ns = 500000000;
		worker->intervals = 2;
		worker->interval_msgs[1] = 100 + i;
		worker->interval_received[1] = 200 + i;
	}
	result_direction(&result, 1, &way);
	assert_int_equal(rank_intervals(&way.result, &way.rank[1], gbps, &seconds), 2);
	NEAR(gbps[1], 101 * 65536 * 8 / 0.5e9);
	assert_int_equal(rank_intervals(&way.result, &way.rank[0], gbps, &seconds), 2);
	NEAR(gbps[1], 200 * 65536 * 8 / 0.5e9);
	result_release(&result);
}

/* By count the side that is done first idles until the other is: both rates are over the same time. */
static void windows_by_count_end_together(void **state)
{
	struct result result;
	struct direction way;

	(void)state;
	make_two(&result, 2);
	result.request.spec.iterations = 1000;
	result.rank[1].clock_offset_ns = 5000;
	for (unsigned w = 0; w < 2; w++) {
		result.rank[1].worker[w].begin_ns += 5000;
		result.rank[1].worker[w].end_ns = 1500000000 + 5000;
		result.rank[1].worker[w].sent = 1000;
		result.rank[1].worker[w].cpu_user_ns = 7;
	}
	result.rank[0].worker[1].end_ns = 1499000000;
	result_join_windows(&result);
	assert_int_equal(result.rank[1].worker[0].end_ns, 2000005000);
	assert_int_equal(result.rank[0].worker[0].end_ns, 2000000000);
	assert_int_equal(result.rank[1].worker[0].cpu_user_ns, -1);
	assert_int_equal(result.rank[0].worker[1].end_ns, 1500000000);
	assert_int_equal(result.rank[1].worker[1].cpu_user_ns, 7);
	result_direction(&result, 1, &way);
	NEAR(rank_rate(&way.result, &way.rank[1]).mpps, 0.001 + 0.002);
	result.request.spec.iterations = 0;
	result.rank[0].worker[1].end_ns++;
	result_join_windows(&result);
	assert_int_equal(result.rank[1].worker[1].end_ns, 1500005000);
	result_release(&result);
}

static void both_series_travel(void **state)
{
	struct buf buf = BUF_INIT;
	struct rank_result back;
	struct cursor cursor;
	struct result result;

	(void)state;
	make_two(&result, 1);
	result.rank[0].worker[0].intervals = 3;
	result.rank[0].worker[0].interval_received[2] = 77;
	rank_result_pack(&result.rank[0], &buf);
	cursor_init(&cursor, buf.data, buf.len);
	assert_int_equal(rank_result_unpack(&back, &cursor), 0);
	assert_true(back.worker[0].both_ways);
	assert_int_equal(back.worker[0].interval_received[2], 77);
	for (size_t len = 0; len < buf.len; len++) {
		struct rank_result cut;

		cursor_init(&cursor, buf.data, len);
		assert_true(rank_result_unpack(&cut, &cursor) < 0);
	}
	rank_result_release(&back);
	buf_release(&buf);
	result_release(&result);
}

static void one_direction_is_the_test_itself(void **state)
{
	struct result result;
	struct direction way;

	(void)state;
	make(&result, 1, false);
	result.rank[0].worker[0].sent = 10;
	assert_int_equal(result_directions(&result), 1);
	result_direction(&result, 0, &way);
	assert_int_equal(way.result.direction, 0);
	assert_int_equal(result_rate(&way.result).messages, 10);
	result_release(&result);
	result.request.spec.bidirectional = true; /* a run that never had two sides */
	assert_int_equal(result_directions(&result), 1);
	result_direction(&result, 0, &way);
	assert_null(result_sender(&way.result));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sum_is_of_both_senders),      cmocka_unit_test(receivers_count),
		cmocka_unit_test(intervals_of_each_direction), cmocka_unit_test(windows_by_count_end_together),
		cmocka_unit_test(both_series_travel),          cmocka_unit_test(one_direction_is_the_test_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
