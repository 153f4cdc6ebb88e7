/* The wire form of a rank's result: there and back, cut short, corrupted, and with counts out of bounds. */
#include "base/buf.h"
#include "base/hist.h"
#include "pair.h"
#include "spec/result.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct invalid wrong[] = {
	{ .worker = 0, .qp = 1, .message = UINT64_C(1) << 40, .byte = 63, .bytes = 2, .expected = 255, .found = 254 },
	{ .worker = 2, .qp = 0, .message = 7, .byte = 0, .bytes = 1, .expected = 0, .found = 128 },
};

/* A rank that uses every field. */
static void make_full(struct result *result)
{
	struct rank_result *rank;

	make(result, 3, true);
	rank = &result->rank[0];
	assert_int_equal(rank_result_alloc_qps(rank, 2), 0);
	strcpy(rank->host, "alpha");
	strcpy(rank->version, "1.2.3");
	rank->clock_offset_ns = -12345;
	rank->clock_error_ns = 678;
	rank->rss_bytes = 1 << 20;
	rank->cores_shared = true;
	facts_add(&rank->facts, "device", "Device", "rxe0");
	facts_add_number(&rank->facts, "mtu", "MTU", 1024);
	error_set(&rank->error, -EIO, "something broke");
	assert_int_equal(rank_result_log(rank, wrong, 2), 0);
	rank->counters.counter = calloc(1, sizeof(struct port_counter));
	assert_non_null(rank->counters.counter);
	rank->counters.counter[0] = (struct port_counter){ "eth0", "rx_packets", 7, 9 };
	rank->counters.count = 1;
	for (unsigned w = 0; w < 3; w++) {
		rank->worker[w].core = 4 + w;
		rank->worker[w].validated = 1000 + w;
		rank->worker[w].invalid = w;
		rank->worker[w].numa = w == 2 ? -1 : (int32_t)w;
		rank->worker[w].gpu = w == 2 ? 7 : -1;
		rank->worker[w].sent = UINT64_MAX - w;
		rank->worker[w].pacing = (struct pacing){ 100 + w, 3, 4000, 500, 6, 7 };
		rank->worker[w].has_loss = true;
		rank->worker[w].intervals = 2;
		rank->worker[w].interval_ns = 100;
		rank->worker[w].interval_msgs[1] = 9;
		rank->worker[w].qp[1] = (struct qp_count){ { 10, 30 + w }, { 5, 7 } };
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
	assert_int_equal(back.worker[2].gpu, 7);
	assert_null(back.worker[1].hist);
	assert_int_equal(back.worker[2].hist->max, 1002);
	assert_int_equal(back.worker[2].qp_count, 2);
	assert_int_equal(back.worker[2].qp[1].sent[1], 32);
	assert_int_equal(back.worker[2].qp[1].received[0], 5);
	assert_memory_equal(&back.worker[1].pacing, &result.rank[0].worker[1].pacing, sizeof(struct pacing));
	assert_int_equal(back.worker[2].validated, 1002);
	assert_int_equal(back.worker[2].invalid, 2);
	assert_int_equal(back.invalids, 2);
	assert_int_equal(back.invalid[0].message, UINT64_C(1) << 40);
	assert_int_equal(back.invalid[0].byte, 63);
	assert_int_equal(back.invalid[1].worker, 2);
	assert_int_equal(back.invalid[1].found, 128);
	assert_int_equal(back.counters.count, 1);
	assert_string_equal(back.counters.counter[0].name, "rx_packets");
	assert_int_equal(back.counters.counter[0].after, 9);
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

/* No text of a peer reaches a terminal with what could move its cursor; letters beyond ASCII stay. */
static void test_pack_hostile_texts(void **state)
{
	static const char hostile[] = "\033[2J\a\xc2\x9b\x9b \x7f\r\n \xc3\xa9", clean[] = "?[2J???? ??? \xc3\xa9";
	struct rank_result back;
	struct buf buf = BUF_INIT;
	struct cursor cursor;
	struct result result;
	struct rank_result *rank;

	(void)state;
	make_full(&result);
	rank = &result.rank[0];
	strcpy(rank->host, hostile);
	strcpy(rank->version, hostile);
	facts_add(&rank->facts, hostile, hostile, "%s", hostile);
	strcpy(rank->error.text, hostile);
	strcpy(rank->worker[0].error.text, hostile);
	rank_result_pack(rank, &buf);
	cursor_init(&cursor, buf.data, buf.len);
	assert_int_equal(rank_result_unpack(&back, &cursor), 0);
	assert_string_equal(back.host, clean);
	assert_string_equal(back.version, clean);
	assert_string_equal(facts_get(&back.facts, clean), clean);
	assert_string_equal(back.facts.fact[back.facts.count - 1].label, clean);
	assert_string_equal(back.error.text, clean);
	assert_string_equal(back.worker[0].error.text, clean);
	buf_release(&buf);
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

/* What there is room for is kept, in order; the rest is only counted. */
static void test_log_is_bounded(void **state)
{
	struct invalid *many = calloc(RESULT_INVALIDS, sizeof(*many));
	struct rank_result rank = { 0 }, back;
	struct buf buf = BUF_INIT;
	struct cursor cursor;

	(void)state;
	assert_non_null(many);
	for (uint32_t i = 0; i < RESULT_INVALIDS; i++)
		many[i].message = i;
	assert_int_equal(rank_result_log(&rank, many, 0), 0);
	assert_int_equal(rank.invalids, 0);
	assert_int_equal(rank_result_log(&rank, many, RESULT_INVALIDS - 1), 0);
	assert_int_equal(rank_result_log(&rank, many, 3), 0);
	assert_int_equal(rank.invalids, RESULT_INVALIDS);
	assert_int_equal(rank.invalid[RESULT_INVALIDS - 1].message, 0);
	assert_int_equal(rank_result_log(&rank, many, RESULT_INVALIDS), 0);
	assert_int_equal(rank.invalids, RESULT_INVALIDS);
	rank_result_pack(&rank, &buf);
	cursor_init(&cursor, buf.data, buf.len);
	assert_int_equal(rank_result_unpack(&back, &cursor), 0);
	assert_int_equal(back.invalids, RESULT_INVALIDS);
	assert_int_equal(back.invalid[RESULT_INVALIDS - 2].message, RESULT_INVALIDS - 2);
	rank_result_release(&back);
	rank_result_release(&rank);
	buf_release(&buf);
	free(many);
}

static void test_pack_too_many_invalids(void **state)
{
	struct invalid many[RESULT_INVALIDS + 1] = { 0 };
	struct rank_result rank = { .invalids = RESULT_INVALIDS + 1, .invalid = many }, back;
	struct buf buf = BUF_INIT;
	struct cursor cursor;

	(void)state;
	rank_result_pack(&rank, &buf);
	cursor_init(&cursor, buf.data, buf.len);
	assert_int_equal(rank_result_unpack(&back, &cursor), -EPROTO);
	buf_release(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pack_round_trip),       cmocka_unit_test(test_pack_hostile_texts),
		cmocka_unit_test(test_pack_truncated),        cmocka_unit_test(test_pack_corrupted),
		cmocka_unit_test(test_pack_too_many_workers), cmocka_unit_test(test_pack_too_many_invalids),
		cmocka_unit_test(test_log_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
