/* Checks the values of a qperf command line: counts, sizes, times and loops, with the sentences of what is refused. */
#include "qperf/channel.h"
#include "qperf/line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(row) (sizeof(row) / sizeof((row)[0]))
#define SECOND      UINT64_C(1000000000)

/* NULL: the text is good and means value; else what the sentence has. */
struct row {
	const char *text;
	double value;
	const char *sentence;
};

typedef int parser(const char *text, double *ret, struct error *err);

static int parse_count(const char *text, double *ret, struct error *err)
{
	uint32_t value = 0;
	const int rc = qperf_parse_count("-n", text, &value, err);

	*ret = value;
	return rc;
}

static int parse_size(const char *text, double *ret, struct error *err)
{
	return qperf_parse_size("-m", text, ret, err);
}

static int parse_time(const char *text, double *ret, struct error *err)
{
	uint64_t ns = 0;
	const int rc = qperf_parse_time("-t", text, &ns, err);

	*ret = (double)ns;
	return rc;
}

static void check(parser *parse, const struct row *row, size_t rows)
{
	for (size_t i = 0; i < rows; i++) {
		struct error err = { 0 };
		double value = -1;
		const int rc = parse(row[i].text, &value, &err);

		if (row[i].sentence ? !rc || !strstr(err.text, row[i].sentence)
				    : rc || value < row[i].value || value > row[i].value)
			fail_msg("'%s': code %d, value %.17g, '%s'", row[i].text, rc, value, err.text);
	}
}

static void counts(void **state)
{
	static const struct row rows[] = {
		{ "0", 0, NULL },
		{ "7", 7, NULL },
		{ "007", 7, NULL },
		{ "4294967295", 4294967295.0, NULL },
		{ "4294967296", 0, "bad argument: 4294967296: at most 4294967295" },
		{ "99999999999999999999", 0, "bad argument: 99999999999999999999" },
		{ "-1", 0, "-n requires a non-negative number" },
		{ "22x", 0, "bad argument: 22x" },
		{ "0x10", 0, "bad argument: 0x10" },
		{ "1.5", 0, "bad argument: 1.5" },
		{ "1K", 0, "bad argument: 1K" },
		{ "+1", 0, "bad argument: +1" },
		{ " 1", 0, "bad argument:  1" },
		{ "", 0, "bad argument: " },
	};

	(void)state;
	check(parse_count, rows, LENGTH(rows));
}

static void sizes(void **state)
{
	static const struct row rows[] = {
		{ "1", 1, NULL },
		{ "64k", 64000, NULL },
		{ "64K", 65536, NULL },
		{ "1kb", 1000, NULL },
		{ "1kib", 1024, NULL },
		{ "3m", 3e6, NULL },
		{ "3mb", 3e6, NULL },
		{ "1M", 1048576, NULL },
		{ "1mib", 1048576, NULL },
		{ "2g", 2e9, NULL },
		{ "2gb", 2e9, NULL },
		{ "1G", 1073741824, NULL },
		{ "3gib", 3221225472.0, NULL },
		{ "1.5K", 1536, NULL },
		{ "0.5k", 500, NULL },
		{ "0.5", 0, NULL },
		{ "1.9", 1, NULL },
		{ "1e3", 1000, NULL },
		{ "1e9", 1e9, NULL },
		{ "1E+3k", 1e6, NULL },
		{ "1e-3M", 1048, NULL },
		{ "4294967295", 4294967295.0, NULL },
		{ "4G", 0, "-m: bad size: 4G: less than 4 GiB" },
		{ "1e30", 0, "-m: bad size: 1e30: less than 4 GiB" },
		{ "1e999", 0, "-m: bad size: 1e999" },
		{ "64KB", 0, "-m: bad size: 64KB" },
		{ "64KiB", 0, "-m: bad size: 64KiB" },
		{ "64Kib", 0, "-m: bad size: 64Kib" },
		{ "1t", 0, "-m: bad size: 1t" },
		{ "K", 0, "-m: bad size: K" },
		{ "", 0, "-m: bad size: " },
		{ ".", 0, "-m: bad size: ." },
		{ "1.2.3", 0, "-m: bad size: 1.2.3" },
		{ "0x100", 256, NULL },
		{ "0X1fK", 31744, NULL },
		{ "+5", 5, NULL },
		{ "5.", 5, NULL },
		{ ".5k", 500, NULL },
		{ "0x", 0, "-m: bad size: 0x" },
		{ "0xg", 0, "-m: bad size: 0xg" },
		{ "0x11111111111111111111", 0, "-m: bad size: 0x1" },
		{ "+", 0, "-m: bad size: +" },
		{ "++5", 0, "-m: bad size: ++5" },
		{ "+-5", 0, "-m: bad size: +-5" },
		{ "-1", 0, "-m requires a non-negative number" },
		{ "1 K", 0, "-m: bad size: 1 K" },
		{ "1e", 0, "-m: bad size: 1e" },
		{ "nan", 0, "-m: bad size: nan" },
		{ "inf", 0, "-m: bad size: inf" },
		{ "1111111111111111111111111111111111111111111111111111111111111111111111", 0, "-m: bad size: 111" },
	};

	(void)state;
	check(parse_size, rows, LENGTH(rows));
}

static void times(void **state)
{
	static const struct row rows[] = {
		{ "2", 2 * SECOND, NULL },
		{ "0", 0, NULL },
		{ "0.5", 0.5 * SECOND, NULL },
		{ "1.9s", 1.9 * SECOND, NULL },
		{ "2S", 2 * SECOND, NULL },
		{ "0.02m", 1.2 * SECOND, NULL },
		{ "1M", 60 * SECOND, NULL },
		{ "1h", 3600 * SECOND, NULL },
		{ "1d", 86400 * SECOND, NULL },
		{ "365D", 31536000 * SECOND, NULL },
		{ "1e-9", 1, NULL },
		{ "366d", 0, "bad argument: 366d: at most a year" },
		{ "1e300", 0, "bad argument: 1e300: at most a year" },
		{ "1500ms", 0, "bad argument: 1500ms" },
		{ "1x", 0, "bad argument: 1x" },
		{ "1ss", 0, "bad argument: 1ss" },
		{ "s", 0, "bad argument: s" },
		{ "", 0, "bad argument: " },
		{ "0x10", 16 * SECOND, NULL },
		{ "+1", 1 * SECOND, NULL },
		{ "-1", 0, "-t requires a non-negative number" },
	};

	(void)state;
	check(parse_time, rows, LENGTH(rows));
}

static void loops(void **state)
{
	static const struct {
		const char *text, *name, *word;
		double first, last, step;
		bool multiply;
	} good[] = {
		{ "msg_size:1:64K:*2", "msg_size", "--msg_size", 1, 65536, 2, true },
		{ "m:1:4:1", "msg_size", "-m", 1, 4, 1, false },
		{ ":1:64K:*2", "msg_size", "--msg_size", 1, 65536, 2, true },
		{ "::64K:*2", "msg_size", "--msg_size", 1, 65536, 2, true },
		{ "::10:5", "msg_size", "--msg_size", 0, 10, 5, false },
		{ "lca:0:3:1", "loc_cpu_affinity", "-lca", 0, 3, 1, false },
		{ "sock_buf_size:32K:64K:1k", "sock_buf_size", "--sock_buf_size", 32768, 65536, 1000, false },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(good); i++) {
		struct error err = { 0 };
		struct qperf_loop loop = { 0 };
		const int rc = qperf_parse_loop("-oo", good[i].text, &loop, &err);

		if (rc)
			fail_msg("'%s': %s", good[i].text, err.text);
		assert_string_equal(qperf_options[loop.option].name + 2, good[i].name);
		assert_string_equal(loop.word, good[i].word);
		assert_true(loop.first == good[i].first && loop.last == good[i].last && loop.step == good[i].step);
		assert_int_equal(loop.multiply, good[i].multiply);
	}
}

static int parse_loop(const char *text, double *ret, struct error *err)
{
	struct qperf_loop loop;

	*ret = 0;
	return qperf_parse_loop("-oo", text, &loop, err);
}

/* qperf repeats its last field or runs for ever with most of these. */
static void loops_that_are_refused(void **state)
{
	static const struct row rows[] = {
		{ "msg_size", 0, "a loop is Var:Init:Last:Incr" },
		{ "msg_size:1:4", 0, "a loop is Var:Init:Last:Incr" },
		{ "msg_size:1:4:", 0, "a loop is Var:Init:Last:Incr" },
		{ "msg_size:1::1", 0, "a loop is Var:Init:Last:Incr" },
		{ "msg_size:1:4:1:1", 0, "a loop is Var:Init:Last:Incr" },
		{ "foo:1:4:1", 0, "-oo: foo: no such variable" },
		{ "static_rate:1:4:1", 0, "-oo: static_rate: no such variable" },
		{ "m:1:4:0", 0, "-oo: 0: increment must be positive" },
		{ "m:1:4:*1", 0, "-oo: *1: a factor must be more than 1" },
		{ "m:0:4:*2", 0, "-oo: a loop that multiplies must not begin at 0" },
		{ "time:1:3:0.5", 0, "-oo: 0.5: increment must be positive" },
		{ "m:1:4:*1.5", 0, "-oo: *1.5: a factor must be more than 1" },
		{ "m:x:4:1", 0, "-oo: bad size: x" },
		{ "m:8:4:1", 0, "-oo: a loop from 8 to 4 has no value" },
		{ "m:-1:4:1", 0, "-oo requires a non-negative number" },
		{ "m:1:4:**2", 0, "-oo: bad size: *2" },
		{ "m:1:8G:*2", 0, "-oo: bad size: 8G: less than 4 GiB" },
	};

	(void)state;
	check(parse_loop, rows, LENGTH(rows));
}

/* Any number of seconds may come from the other end: a multiple of it from now is still an instant. */
static void timeouts(void **state)
{
	const int64_t now = INT64_MAX / 2;
	int64_t longest, end;

	(void)state;
	assert_int_equal(qperf_timeout_ns(0), 0);
	assert_int_equal(qperf_timeout_ns(5), 5 * SECOND);
	longest = qperf_timeout_ns(UINT32_MAX);
	assert_true(longest > (int64_t)(1000000 * SECOND));
	assert_false(__builtin_mul_overflow(longest, QPERF_BEHIND, &end));
	assert_false(__builtin_add_overflow(end, now, &end));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),
		cmocka_unit_test(sizes),
		cmocka_unit_test(times),
		cmocka_unit_test(loops),
		cmocka_unit_test(loops_that_are_refused),
		cmocka_unit_test(timeouts),
	};

	return cmocka_run_group_tests_name("qperf_value", tests, NULL, NULL);
}
