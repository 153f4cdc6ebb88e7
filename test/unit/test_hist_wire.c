/* Checks that a packed histogram comes back and that nothing else is taken for one. */
#include "base/buf.h"
#include "base/hist.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SQUARES_AT 40 /* place of sum_squares in the packed form, 16 bytes */
#define PAIRS_AT   58
#define PAIR_BYTES 10

static struct hist *new_hist(void)
{
	struct hist *h = malloc(sizeof(*h));

	assert_non_null(h);
	hist_init(h);
	return h;
}

static void check_round_trip(const struct hist *h)
{
	struct hist *back = malloc(sizeof(*back));
	struct buf b = BUF_INIT;
	struct cursor c;

	assert_non_null(back);
	memset(back, 0xa5, sizeof(*back));
	hist_pack(h, &b);
	buf_put_u8(&b, 99); /* what follows is left to the next reader */
	assert_int_equal(b.failed, 0);
	cursor_init(&c, b.data, b.len);
	assert_int_equal(hist_unpack(back, &c), 0);
	assert_int_equal(c.left, 1);
	assert_int_equal(cursor_u8(&c), 99);
	assert_memory_equal(back, h, sizeof(*h));
	buf_release(&b);
	free(back);
}

static void packing_keeps_everything(void **state)
{
	struct hist *h = new_hist();

	(void)state;
	check_round_trip(h);
	for (uint64_t value = 1; value < UINT64_C(1) << 60; value += 1 + value / 100)
		hist_record(h, value);
	check_round_trip(h);
	hist_init(h);
	hist_record(h, UINT64_MAX);
	check_round_trip(h);
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		hist_record(h, hist_bucket_low(i));
	check_round_trip(h);
	free(h);
}

/* Values below 128 have a bucket each, so that every field but the squares is implied by the pairs. */
static struct buf packed_small(void)
{
	struct hist *h = new_hist();
	struct buf b = BUF_INIT;

	for (unsigned i = 0; i < 50; i++)
		hist_record(h, 20 + i * i % 37);
	hist_pack(h, &b);
	free(h);
	return b;
}

static int unpack(const void *data, size_t len)
{
	struct hist *back = malloc(sizeof(*back)), *before = malloc(sizeof(*before));
	struct cursor c;
	int rc;

	assert_non_null(back);
	assert_non_null(before);
	memset(back, 0xa5, sizeof(*back));
	memcpy(before, back, sizeof(*back));
	cursor_init(&c, data, len);
	rc = hist_unpack(back, &c);
	if (rc) {
		assert_memory_equal(back, before, sizeof(*back));
		assert_int_equal(c.failed, -EPROTO);
	}
	free(before);
	free(back);
	return rc;
}

static void every_truncation_is_refused(void **state)
{
	struct buf b = packed_small();

	(void)state;
	assert_int_equal(unpack(b.data, b.len), 0);
	for (size_t len = 0; len < b.len; len++) {
		uint8_t *exact = malloc(len + !len); /* of that size, so that the sanitizer sees a read past the end */

		assert_non_null(exact);
		memcpy(exact, b.data, len);
		assert_int_equal(unpack(exact, len), -EPROTO);
		free(exact);
	}
	buf_release(&b);
}

static void every_flipped_bit_is_refused(void **state)
{
	struct buf b = packed_small();

	(void)state;
	for (size_t bit = 0; bit < b.len * 8; bit++) {
		if (bit / 8 >= SQUARES_AT && bit / 8 < SQUARES_AT + 16)
			continue;
		b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(unpack(b.data, b.len), -EPROTO);
		b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	assert_int_equal(unpack(b.data, b.len), 0);
	buf_release(&b);
}

static void put_pair(struct buf *b, uint16_t index, uint64_t count)
{
	buf_put_u16(b, index);
	buf_put_u64(b, count);
}

/* A packed form with count, min, max, sum and the first so many of two pairs as given. */
static int unpack_made(const uint64_t head[4], const uint64_t pair[4], uint16_t pairs)
{
	struct buf b = BUF_INIT;
	int rc;

	for (unsigned i = 0; i < 4; i++)
		buf_put_u64(&b, head[i]);
	for (unsigned i = 0; i < 3; i++)
		buf_put_u64(&b, 0);
	buf_put_u16(&b, pairs);
	assert_int_equal(b.len, PAIRS_AT);
	for (unsigned i = 0; i < pairs; i++)
		put_pair(&b, (uint16_t)pair[2 * i], pair[2 * i + 1]);
	assert_int_equal(b.len, PAIRS_AT + pairs * PAIR_BYTES);
	rc = unpack(b.data, b.len);
	buf_release(&b);
	return rc;
}

static void contradictions_are_refused(void **state)
{
	static const struct {
		uint64_t head[4], pair[4];
		int rc;
	} row[] = {
		{ { 3, 4, 9, 22 }, { 4, 1, 9, 2 }, 0 },
		{ { 4, 4, 9, 22 }, { 4, 1, 9, 2 }, -EPROTO }, /* counts do not add up */
		{ { 3, 9, 4, 22 }, { 4, 1, 9, 2 }, -EPROTO }, /* min > max */
		{ { 3, 5, 9, 22 }, { 4, 1, 9, 2 }, -EPROTO }, /* min not in the first bucket */
		{ { 3, 4, 8, 22 }, { 4, 1, 9, 2 }, -EPROTO }, /* max not in the last one */
		{ { 3, 4, 9, 21 }, { 4, 1, 9, 2 }, -EPROTO }, /* too small a sum */
		{ { 3, 4, 9, 23 }, { 4, 1, 9, 2 }, -EPROTO }, /* too large a sum */
		{ { 3, 4, 9, 22 }, { 9, 2, 4, 1 }, -EPROTO }, /* descending */
		{ { 3, 4, 4, 12 }, { 4, 1, 4, 2 }, -EPROTO }, /* twice the same */
		{ { 1, 4, 9, 4 }, { 4, 1, 9, 0 }, -EPROTO }, /* an empty bucket */
		{ { 3, 4, UINT64_MAX, 22 }, { 4, 1, HIST_BUCKETS, 2 }, -EPROTO },
		{ { 3, 4, UINT64_MAX, 22 }, { 4, 1, 65535, 2 }, -EPROTO },
		{ { 1, 4, 9, 22 }, { 4, UINT64_MAX, 9, 2 }, -EPROTO }, /* counts that wrap round */
	};

	(void)state;
	for (size_t r = 0; r < sizeof(row) / sizeof(row[0]); r++)
		assert_int_equal(unpack_made(row[r].head, row[r].pair, 2), row[r].rc);
}

static void min_above_max_in_one_bucket_is_refused(void **state)
{
	const uint64_t pair[4] = { hist_index(1000), 2 };

	(void)state;
	assert_int_equal(hist_index(1000), hist_index(1001));
	assert_int_equal(unpack_made((const uint64_t[]){ 2, 1000, 1001, 2001 }, pair, 1), 0);
	assert_int_equal(unpack_made((const uint64_t[]){ 2, 1001, 1000, 2001 }, pair, 1), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packing_keeps_everything),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(every_flipped_bit_is_refused),
		cmocka_unit_test(contradictions_are_refused),
		cmocka_unit_test(min_above_max_in_one_bucket_is_refused),
	};

	return cmocka_run_group_tests_name("hist_wire", tests, NULL, NULL);
}
