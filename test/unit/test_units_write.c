/* Checks that what is written with a unit is read back, and that figures keep four significant digits. */
#include "base/units.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define SENTINEL 77

/* Numbers of every magnitude, round and odd ones. */
static uint64_t specimen(unsigned i)
{
	const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);

	switch (i % 4) {
	case 0:
		return odd >> (i / 4 % 64);
	case 1:
		return UINT64_C(1) << (i / 4 % 64);
	case 2:
		return (odd % 1000 + 1) << (i / 4 % 54);
	default:
		return (odd % 999 + 1) * (uint64_t)pow(10, i / 4 % 16);
	}
}

static void writers_are_read_back(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 40000; i++) {
		const uint64_t value = i ? specimen(i) : UINT64_MAX;
		char text[UNITS_TEXT];
		uint64_t back = SENTINEL;
		int64_t ns = SENTINEL;

		assert_int_equal(units_parse_size(units_format_size(value, text), &back, NULL), 0);
		assert_true(back == value);
		assert_int_equal(units_parse_rate(units_format_rate(value, text), &back, NULL), 0);
		assert_true(back == value);
		assert_int_equal(units_parse_time(units_format_time((int64_t)(value >> 1), text), &ns, NULL), 0);
		assert_true(ns == (int64_t)(value >> 1));
	}
}

static void written_texts(void **state)
{
	char t[UNITS_TEXT];

	(void)state;
	assert_string_equal(units_format_size(0, t), "0");
	assert_string_equal(units_format_size(65536, t), "64Ki");
	assert_string_equal(units_format_size(64000, t), "64000");
	assert_string_equal(units_format_size(UINT64_C(1) << 40, t), "1024Gi");
	assert_string_equal(units_format_time(0, t), "0ns");
	assert_string_equal(units_format_time(5000, t), "5us");
	assert_string_equal(units_format_time(1500000, t), "1.5ms");
	assert_string_equal(units_format_time(90000000000, t), "90s");
	assert_string_equal(units_format_time(1000000001, t), "1.000000001s");
	assert_string_equal(units_format_time(-1500, t), "-1.5us");
	assert_string_equal(units_format_time(INT64_MIN, t), "-9223372036.854775808s");
	assert_string_equal(units_format_rate(0, t), "0");
	assert_string_equal(units_format_rate(999, t), "999");
	assert_string_equal(units_format_rate(100000000000, t), "100G");
	assert_string_equal(units_format_rate(1500, t), "1.5k");
	assert_string_equal(units_format_rate(UINT64_MAX, t), "18446744.073709551615T");
}

static void figures(void **state)
{
	static const struct {
		double value;
		const char *text;
	} row[] = {
		{ 0.00001234, "0.00001234" },
		{ 1.235, "1.235" },
		{ 123.5, "123.5" },
		{ 12345, "12345" },
		{ 0, "0" },
		{ -0.0, "0" },
		{ 5, "5.000" },
		{ 100, "100.0" },
		{ 1000, "1000" },
		{ 9.9996, "10.00" },
		{ 999.96, "1000" },
		{ 0.99996, "1.000" },
		{ 99.996, "100.0" },
		{ 1e-9, "0.000000001000" },
		{ 1e15, "1000000000000000" },
		{ -2.5, "-2.500" },
		{ 1234.6, "1235" },
		{ 0.1, "0.1000" },
		{ 3e-15, "0.000000000000003000" },
		{ 1.5e300, "1.500e+300" },
		{ 1.5e-300, "1.500e-300" },
		{ 0.00010004, "0.0001000" },
	};
	char text[UNITS_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		assert_string_equal(units_format_figure(row[i].value, text), row[i].text);
}

static unsigned significant_digits(const char *text)
{
	unsigned digits = 0;

	for (text += strspn(text, "0."); *text; text++)
		digits += *text != '.';
	return digits;
}

static void figures_keep_four_digits(void **state)
{
	(void)state;
	for (unsigned i = 1; i < 40000; i++) {
		const double value = (double)(specimen(4 * i) % 1000000 + 1) * pow(10, -9 + (int)(i % 19));
		char text[UNITS_TEXT];
		double back;

		assert_true(value >= 1e-9 && value <= 1e15);
		units_format_figure(value, text);
		assert_int_equal(strspn(text, "0123456789."), strlen(text));
		assert_true(significant_digits(text) >= 4);
		assert_int_equal(units_parse_real(text, &back, NULL), 0);
		assert_true(back > 0 && fabs(back - value) <= 0.50001e-3 * value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writers_are_read_back),
		cmocka_unit_test(written_texts),
		cmocka_unit_test(figures),
		cmocka_unit_test(figures_keep_four_digits),
	};

	return cmocka_run_group_tests_name("units_write", tests, NULL, NULL);
}
