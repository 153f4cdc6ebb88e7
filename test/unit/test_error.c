/* Checks that the first sentence stays, fits and is one line. */
#include "base/error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void the_first_detector_wins(void **state)
{
	struct error err = { 0 };

	(void)state;
	assert_int_equal(error_set(&err, -EINVAL, "'%s' is not %d", "x", 5), -EINVAL);
	assert_int_equal(err.code, -EINVAL);
	assert_string_equal(err.text, "'x' is not 5");
	assert_int_equal(error_set(&err, -ENOMEM, "later"), -ENOMEM);
	assert_int_equal(error_sys(&err, -EIO, "later still"), -EIO);
	assert_int_equal(err.code, -EINVAL);
	assert_string_equal(err.text, "'x' is not 5");
}

static void a_null_error_is_fine(void **state)
{
	(void)state;
	assert_int_equal(error_set(NULL, -EINVAL, "x"), -EINVAL);
	assert_int_equal(error_sys(NULL, -ENOENT, "x"), -ENOENT);
	error_prefix(NULL, "x");
	error_clear(NULL);
}

static void the_system_reason_is_appended(void **state)
{
	struct error err = { 0 };

	(void)state;
	assert_int_equal(error_sys(&err, -ENOENT, "cannot open %s", "a.json"), -ENOENT);
	assert_int_equal(err.code, -ENOENT);
	assert_string_equal(err.text, "cannot open a.json: No such file or directory");
}

static void a_prefix_needs_an_error(void **state)
{
	struct error err = { 0 };

	(void)state;
	error_prefix(&err, "host");
	assert_int_equal(err.code, 0);
	assert_string_equal(err.text, "");
	error_set(&err, -EPROTO, "bad message");
	error_prefix(&err, "peer %s", "b\n1");
	error_prefix(&err, "run");
	assert_string_equal(err.text, "run: peer b 1: bad message");
	assert_int_equal(err.code, -EPROTO);
}

static void a_prefix_may_quote_the_text(void **state)
{
	struct error err = { 0 };

	(void)state;
	error_set(&err, -EPROTO, "abc");
	error_prefix(&err, "<%s>", err.text);
	assert_string_equal(err.text, "<abc>: abc");
}

static void it_is_one_line(void **state)
{
	struct error err = { 0 };

	(void)state;
	error_set(&err, -EINVAL, "a\nb\r\n%s", "c\nd");
	assert_string_equal(err.text, "a b  c d");
}

static void long_texts_are_cut(void **state)
{
	struct error err = { 0 };
	char text[2 * sizeof(err.text)];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	error_set(&err, -EINVAL, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	error_prefix(&err, "h");
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_memory_equal(err.text, "h: xxx", 6);
	error_prefix(&err, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	error_clear(&err);
	error_sys(&err, -EIO, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

static void a_cleared_one_can_be_filled_again(void **state)
{
	struct error err = { 0 };

	(void)state;
	error_set(&err, -EINVAL, "first");
	error_clear(&err);
	assert_int_equal(err.code, 0);
	assert_string_equal(err.text, "");
	error_set(&err, -EIO, "second");
	assert_int_equal(err.code, -EIO);
	assert_string_equal(err.text, "second");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_detector_wins),
		cmocka_unit_test(a_null_error_is_fine),
		cmocka_unit_test(the_system_reason_is_appended),
		cmocka_unit_test(a_prefix_needs_an_error),
		cmocka_unit_test(a_prefix_may_quote_the_text),
		cmocka_unit_test(it_is_one_line),
		cmocka_unit_test(long_texts_are_cut),
		cmocka_unit_test(a_cleared_one_can_be_filled_again),
	};

	return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
