/* Checks that what a buffer holds is little-endian and that a cursor gives it back and never reads past the end. */
#include "base/buf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void fields_are_little_endian(void **state)
{
	static const uint8_t expected[] = {
		0x01, 0x03, 0x02, 0x07, 0x06, 0x05, 0x04, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, 0x09, 0x08, /* integers */
		2,    0,    'h',  'i',  3,    0,    0,    0,    'x',  0,    'z', /* text, block */
	};
	struct buf b = BUF_INIT;

	(void)state;
	buf_put_u8(&b, 0x01);
	buf_put_u16(&b, 0x0203);
	buf_put_u32(&b, 0x04050607);
	buf_put_u64(&b, UINT64_C(0x08090a0b0c0d0e0f));
	buf_put_string(&b, "hi");
	buf_put_block(&b, "x\0z", 3);
	assert_int_equal(b.failed, 0);
	assert_int_equal(b.len, sizeof(expected));
	assert_memory_equal(b.data, expected, sizeof(expected));
	buf_release(&b);
	assert_null(b.data);
	assert_int_equal(b.len + b.cap, 0);
	buf_release(&b);
	buf_release(NULL);
}

static void put_all(struct buf *b)
{
	buf_put_u8(b, 200);
	buf_put_u16(b, 60000);
	buf_put_u32(b, 4000000000u);
	buf_put_u64(b, UINT64_MAX - 1);
	buf_put_string(b, "rxe0");
	buf_put_string(b, "");
	buf_put_block(b, "\x2a\x01", 2);
	buf_put_block(b, NULL, 0);
	buf_put(b, "end", 3);
}

/* Reads what put_all() wrote; true when all of it was there and right. */
static bool get_all(struct cursor *c)
{
	struct cursor block, empty;
	char text[8], none[1], end[3];
	bool right = cursor_u8(c) == 200;

	right &= cursor_u16(c) == 60000;
	right &= cursor_u32(c) == 4000000000u;
	right &= cursor_u64(c) == UINT64_MAX - 1;
	cursor_string(c, text, sizeof(text));
	right &= !strcmp(text, "rxe0");
	cursor_string(c, none, sizeof(none));
	right &= none[0] == '\0';
	cursor_block(c, &block);
	right &= cursor_u16(&block) == 0x012a && block.left == 0 && !block.failed;
	cursor_block(c, &empty);
	right &= empty.left == 0 && empty.failed == c->failed;
	cursor_get(c, end, sizeof(end));
	return right && !memcmp(end, "end", 3) && !c->failed;
}

static void what_was_put_comes_back(void **state)
{
	struct buf b = BUF_INIT;
	struct cursor c;

	(void)state;
	put_all(&b);
	cursor_init(&c, b.data, b.len);
	assert_true(get_all(&c));
	assert_int_equal(c.left, 0);
	assert_int_equal(cursor_u8(&c), 0);
	assert_int_equal(c.failed, -EPROTO);
	buf_release(&b);
}

static void every_truncation_fails(void **state)
{
	struct buf b = BUF_INIT;
	struct cursor c;

	(void)state;
	put_all(&b);
	for (size_t len = 0; len < b.len; len++) {
		uint8_t *exact = malloc(len + !len); /* of that size, so that the sanitizer sees a read past the end */

		assert_non_null(exact);
		memcpy(exact, b.data, len);
		cursor_init(&c, exact, len);
		assert_false(get_all(&c));
		assert_int_equal(c.failed, -EPROTO);
		assert_int_equal(cursor_u64(&c), 0);
		free(exact);
	}
	buf_release(&b);
}

static void a_failed_cursor_gives_zeroes(void **state)
{
	const uint8_t data[] = { 1, 2, 3, 4, 5, 6, 7 };
	uint8_t raw[4] = { 9, 9, 9, 9 };
	struct cursor c, block;
	char text[4] = "old";

	(void)state;
	cursor_init(&c, data, sizeof(data));
	assert_int_equal(cursor_u64(&c), 0);
	assert_int_equal(c.failed, -EPROTO);
	assert_int_equal(cursor_u8(&c), 0); /* though a byte is left */
	cursor_get(&c, raw, sizeof(raw));
	assert_memory_equal(raw, "\0\0\0\0", 4);
	cursor_string(&c, text, sizeof(text));
	assert_string_equal(text, "");
	cursor_block(&c, &block);
	assert_int_equal(block.failed, -EPROTO);
	assert_int_equal(block.left, 0);
}

static int read_string(const void *data, size_t len, size_t size, char *text)
{
	struct cursor c;

	cursor_init(&c, data, len);
	cursor_string(&c, text, size);
	return c.failed;
}

static void strings_are_bounded(void **state)
{
	char text[8];

	(void)state;
	assert_int_equal(read_string("\4\0abcd", 6, 5, text), 0);
	assert_string_equal(text, "abcd");
	assert_int_equal(read_string("\4\0abcd", 6, 4, text), -EPROTO);
	assert_string_equal(text, "");
	assert_int_equal(read_string("\4\0ab\0d", 6, 8, text), -EPROTO);
	assert_string_equal(text, "");
	assert_int_equal(read_string("\4\0abc", 5, 8, text), -EPROTO);
	assert_int_equal(read_string("\377\377abc", 5, 8, text), -EPROTO);
	assert_int_equal(read_string("\0\0", 2, 1, text), 0);
	assert_int_equal(read_string("\4", 1, 8, text), -EPROTO);
}

static void a_block_cannot_reach_beyond_its_parent(void **state)
{
	struct cursor c, block;

	(void)state;
	cursor_init(&c, "\5\0\0\0abcd", 8);
	cursor_block(&c, &block);
	assert_int_equal(c.failed, -EPROTO);
	assert_int_equal(block.failed, -EPROTO);
	cursor_init(&c, "\2\0\0\0abcd", 8);
	cursor_block(&c, &block);
	assert_int_equal(cursor_u32(&block), 0);
	assert_int_equal(block.failed, -EPROTO);
	assert_int_equal(c.failed, 0);
	assert_int_equal(cursor_u16(&c), 'c' | 'd' << 8);
}

static void a_long_string_is_cut(void **state)
{
	char *text = malloc(70001);
	struct buf b = BUF_INIT;
	struct cursor c;

	(void)state;
	assert_non_null(text);
	memset(text, 'a', 70000);
	text[70000] = '\0';
	buf_put_string(&b, text);
	assert_int_equal(b.len, 2 + 65535);
	cursor_init(&c, b.data, b.len);
	cursor_string(&c, text, 70001);
	assert_int_equal(c.failed, 0);
	assert_int_equal(strlen(text), 65535);
	buf_release(&b);
	free(text);
}

static void it_grows_and_keeps_its_memory(void **state)
{
	struct buf b = BUF_INIT;
	size_t cap;

	(void)state;
	for (uint32_t i = 0; i < 100000; i++)
		buf_put_u32(&b, i);
	assert_int_equal(b.len, 400000);
	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(b.data[4 * i] | b.data[4 * i + 1] << 8 | b.data[4 * i + 2] << 16, i);
	cap = b.cap;
	buf_clear(&b);
	assert_int_equal(b.len, 0);
	assert_int_equal(b.cap, cap);
	assert_non_null(b.data);
	buf_release(&b);
}

static void a_failed_append_sticks(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	buf_put_u8(&b, 1);
	buf_put(&b, "", SIZE_MAX - 8);
	assert_int_equal(b.failed, -ENOMEM);
	buf_put_u8(&b, 2);
	buf_put_string(&b, "x");
	buf_put_block(&b, "x", 1);
	assert_int_equal(b.len, 1);
	buf_clear(&b);
	buf_put_block(&b, "", (size_t)UINT32_MAX + 1);
	assert_int_equal(b.failed, -EMSGSIZE);
	assert_int_equal(b.len, 0);
	buf_release(&b);
	assert_int_equal(b.failed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_little_endian), cmocka_unit_test(what_was_put_comes_back),
		cmocka_unit_test(every_truncation_fails),   cmocka_unit_test(a_failed_cursor_gives_zeroes),
		cmocka_unit_test(strings_are_bounded),      cmocka_unit_test(a_block_cannot_reach_beyond_its_parent),
		cmocka_unit_test(a_long_string_is_cut),     cmocka_unit_test(it_grows_and_keeps_its_memory),
		cmocka_unit_test(a_failed_append_sticks),
	};

	return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
