/* The payload of validated messages: the same from the same numbers, wrong bytes found at their places. */
#include "engine/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define SIZE 1003

static void a_message_is_made_of_its_numbers(void **state)
{
	const uint64_t keys[] = { pattern_key(1, 0, 0, 0), pattern_key(2, 0, 0, 0), pattern_key(1, 1, 0, 0),
				  pattern_key(1, 0, 1, 0), pattern_key(1, 0, 0, 1), pattern_key(1, 0, 0, 1ull << 40) };
	uint8_t one[SIZE], other[SIZE];
	struct mismatch m;

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		pattern_fill(one, SIZE, keys[i]);
		assert_true(pattern_check(one, SIZE, keys[i], &m));
		assert_int_equal(m.bytes, 0);
		for (size_t j = 0; j < i; j++) {
			pattern_fill(other, SIZE, keys[j]);
			assert_false(pattern_check(one, SIZE, keys[j], &m));
			assert_in_range(m.bytes, SIZE * 98 / 100, SIZE); /* one byte in 256 is equal by chance */
			assert_false(pattern_begins(one, SIZE, keys[j]));
		}
	}
	assert_int_equal(keys[0], pattern_key(1, 0, 0, 0));
}

/* A shorter message is the beginning of a longer one, and nothing behind its end is touched. */
static void any_size_is_filled_exactly(void **state)
{
	const uint64_t key = pattern_key(7, 3, 2, 1);
	uint8_t whole[64], part[64];
	struct mismatch m;

	(void)state;
	pattern_fill(whole, sizeof(whole), key);
	for (size_t size = 1; size < sizeof(whole); size++) {
		memset(part, 0xa5, sizeof(part));
		pattern_fill(part, size, key);
		assert_memory_equal(part, whole, size);
		for (size_t i = size; i < sizeof(part); i++)
			assert_int_equal(part[i], 0xa5);
		assert_true(pattern_check(part, size, key, &m));
		assert_true(pattern_begins(part, size, key));
	}
}

static void every_wrong_byte_is_found(void **state)
{
	const uint64_t key = pattern_key(1, 0, 0, 5);
	uint8_t data[SIZE];
	struct mismatch m;

	(void)state;
	pattern_fill(data, SIZE, key);
	for (size_t at = 0; at < SIZE; at++) {
		const uint8_t right = data[at];

		data[at] ^= (uint8_t)(1u << at % 8);
		assert_false(pattern_check(data, SIZE, key, &m));
		assert_int_equal(m.first, at);
		assert_int_equal(m.bytes, 1);
		assert_int_equal(m.expected, right);
		assert_int_equal(m.found, data[at]);
		assert_true(pattern_begins(data, SIZE, key) == (at >= 8));
		data[at] = right;
	}
	data[17] ^= 1;
	data[18] ^= 0x80;
	data[SIZE - 1] ^= 0xff;
	assert_false(pattern_check(data, SIZE, key, &m));
	assert_int_equal(m.first, 17);
	assert_int_equal(m.bytes, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_is_made_of_its_numbers),
		cmocka_unit_test(any_size_is_filled_exactly),
		cmocka_unit_test(every_wrong_byte_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
