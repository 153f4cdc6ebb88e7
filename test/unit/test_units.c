/* Checks every kind of number with tables of good and bad texts. */
#include "base/error.h"
#include "base/units.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SENTINEL    77
#define LENGTH(row) (sizeof(row) / sizeof((row)[0]))

struct good {
	const char *text;
	uint64_t value;
};

typedef int parser(const char *text, uint64_t *ret, struct error *err);

static int parse_time(const char *text, uint64_t *ret, struct error *err)
{
	int64_t ns = (int64_t)*ret;
	const int rc = units_parse_time(text, &ns, err);

	*ret = (uint64_t)ns;
	return rc;
}

static void check_good(parser *parse, const struct good *row, size_t rows)
{
	for (size_t i = 0; i < rows; i++) {
		struct error err = { 0 };
		uint64_t value = SENTINEL;

		if (parse(row[i].text, &value, &err) || value != row[i].value || err.code)
			fail_msg("'%s': %llu instead of %llu; %s", row[i].text, (unsigned long long)value,
				 (unsigned long long)row[i].value, err.text);
	}
}

/* Refused with that code and one sentence that quotes the text (in one line); the output is untouched. */
static void check_refused(parser *parse, int code, const char *const *text, size_t texts)
{
	for (size_t i = 0; i < texts; i++) {
		struct error err = { 0 };
		uint64_t value = SENTINEL;
		char quoted[1 + 60 + 1]; /* at most 60 characters are quoted */

		snprintf(quoted, sizeof(quoted), "'%.*s", (int)strcspn(text[i], "\n"), text[i]);
		if (parse(text[i], &value, &err) != code || value != SENTINEL || err.code != code ||
		    strncmp(err.text, quoted, strlen(quoted)) != 0 || strchr(err.text, '\n'))
			fail_msg("'%s': code %d, value %llu, '%s'", text[i], err.code, (unsigned long long)value,
				 err.text);
		assert_int_equal(parse(text[i], &value, NULL), code);
	}
}

/* What no kind takes. */
static const char *const nonsense[] = { "",      " ",   "-",   "+",   ".",        "-1", "+1",       "-0",    " 1",
					"1 ",    "1 k", "\t1", "1\n", "1q",       "q",  "k",        "1,5",   "1_000",
					"1'000", "nan", "NaN", "inf", "infinity", "1.", "1..2",     "1.2.3", "0x",
					"0b1",   "1e",  "1e+", "1kk", "1Kib",     "1%", "\xc2\xb2", "0x1p3", "--1",
					"1-2",   "1;",  "0xg", "x10", "1.k",      "ns" };

static void integers(void **state)
{
	static const struct good good[] = {
		{ "0", 0 },
		{ "1", 1 },
		{ "007", 7 },
		{ "0x10", 16 },
		{ "0XfF", 255 },
		{ "0x0", 0 },
		{ "1000000", 1000000 },
		{ "18446744073709551615", UINT64_MAX },
		{ "0xffffffffffffffff", UINT64_MAX },
		{ "00000000000000000000000000000012", 12 },
	};
	static const char *const bad[] = { "1k", "1.5", "1e3", "-0x1", "0x 1", "0x-1", "0x1.8" };
	static const char *const out_of_range[] = {
		"18446744073709551616", "0x10000000000000000",
		"99999999999999999999999999999999999999999999999999999999999999999999999999"
	};

	(void)state;
	check_good(units_parse_int, good, LENGTH(good));
	check_refused(units_parse_int, -EINVAL, bad, LENGTH(bad));
	check_refused(units_parse_int, -ERANGE, out_of_range, LENGTH(out_of_range));
	check_refused(units_parse_int, -EINVAL, nonsense, LENGTH(nonsense));
}

static void sizes(void **state)
{
	static const struct good good[] = {
		{ "0", 0 },
		{ "0K", 0 },
		{ "1", 1 },
		{ "65536", 65536 },
		{ "64K", 65536 },
		{ "64Ki", 65536 },
		{ "64k", 64000 },
		{ "64kb", 64000 },
		{ "64kB", 64000 },
		{ "64KB", 64000 },
		{ "1M", 1 << 20 },
		{ "1Mi", 1 << 20 },
		{ "1m", 1000000 },
		{ "1mb", 1000000 },
		{ "1mB", 1000000 },
		{ "1MB", 1000000 },
		{ "1G", 1 << 30 },
		{ "1Gi", 1 << 30 },
		{ "1g", 1000000000 },
		{ "1gb", 1000000000 },
		{ "1gB", 1000000000 },
		{ "1GB", 1000000000 },
		{ "18446744073709551615", UINT64_MAX },
		{ "17179869183G", UINT64_MAX - (1 << 30) + 1 },
		{ "18446744073709551k", 18446744073709551000u },
	};
	static const char *const bad[] = { "1.5",  "1.5K", "1.0",  ".5M",  "0x10", "1e3",  "-64K",
					   "64 K", "64ki", "64KI", "64kI", "64Kb", "64KK", "64B",
					   "64T",  "64K ", "64Kx", "K64",  "64ms", "64Gb", "64Mb" };
	static const char *const out_of_range[] = { "18446744073709551616", "17179869184G", "18446744073709552k",
						    "99999999999999999999999K" };

	(void)state;
	check_good(units_parse_size, good, LENGTH(good));
	check_refused(units_parse_size, -EINVAL, bad, LENGTH(bad));
	check_refused(units_parse_size, -ERANGE, out_of_range, LENGTH(out_of_range));
	check_refused(units_parse_size, -EINVAL, nonsense, LENGTH(nonsense));
}

static void times(void **state)
{
	static const struct good good[] = {
		{ "0", 0 },
		{ "0.0s", 0 },
		{ "1", 1000000000 },
		{ "10", 10000000000 },
		{ "5us", 5000 },
		{ "0.1us", 100 },
		{ "1.5s", 1500000000 },
		{ "1.5", 1500000000 },
		{ ".5s", 500000000 },
		{ "1ns", 1 },
		{ "1ms", 1000000 },
		{ "2m", 120000000000 },
		{ "1h", 3600000000000 },
		{ "0.5h", 1800000000000 },
		{ "0.3ms", 300000 },
		{ "0.000000001s", 1 },
		{ "1.0000000004s", 1000000000 },
		{ "1.0000000005s", 1000000001 },
		{ "0.5ns", 1 },
		{ "1.4ns", 1 },
		{ "1.5ns", 2 },
		{ "4.35us", 4350 },
		{ "1.005us", 1005 },
		{ "0.29us", 290 },
		{ "9223372036.854775807", INT64_MAX },
		{ "9223372036854775807ns", INT64_MAX },
		{ "9223372036854775806.9ns", INT64_MAX },
		{ "2562047h", 2562047 * 3600000000000 },
		{ "0.333333333333333333333333333333h", 1200000000000 },
		{ "1.00000000000000000000000000000s", 1000000000 },
	};
	static const char *const bad[] = { "1 s", "-1s", "1S",   "1MS", "1min", "1sec", "1.s", "1d",
					   "1ks", "1e3", "0x10", "s",   "1us2", "1n",   "1u" };
	static const char *const out_of_range[] = { "9223372036.854775808",
						    "9223372036854775808ns",
						    "9223372036854775807.5ns",
						    "2562048h",
						    "18446744073709551617ns",
						    "99999999999999999999h",
						    "0.4ns",
						    "0.0000000001",
						    "0.0000000000000000000000001h" };

	(void)state;
	check_good(parse_time, good, LENGTH(good));
	check_refused(parse_time, -EINVAL, bad, LENGTH(bad));
	check_refused(parse_time, -ERANGE, out_of_range, LENGTH(out_of_range));
	check_refused(parse_time, -EINVAL, nonsense, LENGTH(nonsense));
}

static void rates(void **state)
{
	static const struct good good[] = {
		{ "0", 0 },
		{ "1", 1 },
		{ "1k", 1000 },
		{ "1K", 1000 },
		{ "1M", 1000000 },
		{ "100G", 100000000000 },
		{ "1.5G", 1500000000 },
		{ "0.1k", 100 },
		{ "1T", 1000000000000 },
		{ "0.8T", 800000000000 },
		{ "1.0004k", 1000 },
		{ "1.0005k", 1001 },
		{ "18446744.073709551615T", UINT64_MAX },
		{ "18446744073709551615", UINT64_MAX },
	};
	static const char *const bad[] = { "1m",  "1g", "1t",  "1Gb", "1Gbit", "1Ki",  "1 G",
					   "-1G", "G",  "1e9", "1GG", "0x1G",  "1Gb/s" };
	static const char *const out_of_range[] = { "0.4", "0.0001k", "18446744073709551616", "18446744.073709551616T",
						    "18446745T" };

	(void)state;
	check_good(units_parse_rate, good, LENGTH(good));
	check_refused(units_parse_rate, -EINVAL, bad, LENGTH(bad));
	check_refused(units_parse_rate, -ERANGE, out_of_range, LENGTH(out_of_range));
	check_refused(units_parse_rate, -EINVAL, nonsense, LENGTH(nonsense));
}

static int parse_real(const char *text, uint64_t *ret, struct error *err)
{
	double value = (double)*ret;
	const int rc = units_parse_real(text, &value, err);

	*ret = (uint64_t)value;
	return rc;
}

static void reals(void **state)
{
	static const struct {
		const char *text;
		double value;
	} good[] = {
		{ "0", 0 },
		{ "0.0", 0 },
		{ "0e5", 0 },
		{ "1", 1 },
		{ "1.5", 1.5 },
		{ ".5", 0.5 },
		{ "99.9", 99.9 },
		{ "0.01", 0.01 },
		{ "1e3", 1000 },
		{ "1E3", 1000 },
		{ "1e+3", 1000 },
		{ "2.5e-1", 0.25 },
		{ "007.5", 7.5 },
		{ "0.1", 0.1 },
		{ "0.00000000000000000001", 1e-20 },
		{ "1.7976931348623157e308", 1.7976931348623157e308 },
	};
	static const char *const bad[] = {
		"1k", "0x10", "1e3.5", "1e3e3", "1.e3", ".e3", "-1.5", "1.5 ", "e3", "nan(1)"
	};
	static const char *const out_of_range[] = { "1e999", "1e-999", "0.001e-400" };

	(void)state;
	for (size_t i = 0; i < LENGTH(good); i++) {
		double value = SENTINEL;

		assert_int_equal(units_parse_real(good[i].text, &value, NULL), 0);
		assert_true(value == good[i].value);
	}
	check_refused(parse_real, -EINVAL, bad, LENGTH(bad));
	check_refused(parse_real, -ERANGE, out_of_range, LENGTH(out_of_range));
	check_refused(parse_real, -EINVAL, nonsense, LENGTH(nonsense));
}

static void sentences_say_what_is_allowed(void **state)
{
	struct error err = { 0 };
	uint64_t value;
	int64_t ns;

	(void)state;
	units_parse_size("12q", &value, &err);
	assert_string_equal(err.text, "'12q' is not a size: a whole number of bytes, with K M G or Ki Mi Gi (steps of "
				      "1024), or k m g or kb mb gb (steps of 1000)");
	error_clear(&err);
	units_parse_time("300000000h", &ns, &err);
	assert_string_equal(err.text, "'300000000h' is too large: at most 9223372036854775807 ns");
	error_clear(&err);
	units_parse_rate("0.1", &value, &err);
	assert_string_equal(err.text, "'0.1' is too small: at least 1 bit/s, or 0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers), cmocka_unit_test(sizes), cmocka_unit_test(times),
		cmocka_unit_test(rates),    cmocka_unit_test(reals), cmocka_unit_test(sentences_say_what_is_allowed),
	};

	return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
