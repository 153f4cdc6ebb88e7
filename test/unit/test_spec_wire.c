/* Checks the wire form of a test: random tests there and back, and refusals of what is not one. */
#include "base/buf.h"
#include "base/error.h"
#include "spec/option.h"
#include "spec/spec.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(row) (sizeof(row) / sizeof((row)[0]))
#define ROUNDS      2000

static bool is_number(const struct option_row *row)
{
	return row->type == OPTION_INT || row->type == OPTION_LOAD || row->type == OPTION_SIZE ||
	       row->type == OPTION_RATE || row->type == OPTION_TIME || row->type == OPTION_REAL;
}

static uint64_t draw(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void draw_number(const struct option_row *row, uint64_t *seed, char *ret, size_t size)
{
	const double part = (double)(draw(seed) >> 11) / 9007199254740992.0;
	const double value = row->min + (row->max - row->min) * part * part * part;
	const char *const unit = row->type == OPTION_TIME ? "ns" : "";

	if (row->bare && row->type == OPTION_RATE)
		snprintf(ret, size, "%lluk", (unsigned long long)value / 1000);
	else if (row->names)
		snprintf(ret, size, "%s", row->names[draw(seed) % 5]);
	else if (row->type == OPTION_REAL)
		snprintf(ret, size, "%.17g", value);
	else
		snprintf(ret, size, "%llu%s", (unsigned long long)value, unit);
}

static void draw_text(uint64_t *seed, size_t room, char *ret)
{
	const size_t len = 1 + draw(seed) % (room - 1);

	for (size_t i = 0; i < len; i++)
		ret[i] = (char)(' ' + draw(seed) % 95);
	ret[len] = '\0';
}

static void draw_value(const struct option_row *row, uint64_t *seed, char *ret)
{
	static const char *const choices[] = { "on", "off", "auto" };
	static const char *const cores[] = { "0", "1,3", "0-7", "1023,5" };
	unsigned names = 0;

	if (is_number(row)) {
		draw_number(row, seed, ret, OPTION_VALUE_MAX);
	} else if (row->type == OPTION_TEXT) {
		draw_text(seed, row->size, ret);
	} else if (row->type == OPTION_PERCENTILES) {
		snprintf(ret, OPTION_VALUE_MAX, "%.17g,%.3f,100", (double)(1 + draw(seed) % 1000000) / 1e5, 10 + 1e-3);
	} else if (row->type == OPTION_OPERATIONS) {
		snprintf(ret, OPTION_VALUE_MAX, "write:%u,atomic_cs:8", 1 + (unsigned)draw(seed) % 4096);
	} else if (row->type == OPTION_ENUM) {
		while (row->names[names])
			names++;
		do
			strcpy(ret, row->names[draw(seed) % names]);
		while (!*ret); /* not offered */
	} else if (row->type == OPTION_CORES) {
		strcpy(ret, cores[draw(seed) % LENGTH(cores)]);
	} else {
		strcpy(ret, choices[draw(seed) % (row->flags & OPTION_AUTO ? 3 : 2)]);
	}
}

/* A test in which about half of the options have a random legal value. */
static void draw_spec(uint64_t *seed, struct request *ret)
{
	char value[OPTION_VALUE_MAX];

	request_init(ret);
	for (int row = 0; row < (int)option_count; row++) {
		struct error err = { 0 };

		if (!(option_rows[row].flags & OPTION_WIRE) || draw(seed) % 2)
			continue;
		draw_value(&option_rows[row], seed, value);
		if (option_set(ret, row, "x", value, &err))
			fail_msg("%s=%s: %s", option_rows[row].key, value, err.text);
	}
}

static int unpack(const void *data, size_t len, struct spec *ret, struct error *err)
{
	struct cursor cursor;

	cursor_init(&cursor, data, len);
	return spec_unpack(ret, &cursor, err);
}

static void random_tests_survive_the_wire(void **state)
{
	uint64_t seed = 88172645463325252u;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct request sent, got;
		struct buf wire = BUF_INIT;
		struct error err = { 0 };

		draw_spec(&seed, &sent);
		memset(&got, 0, sizeof(got));
		spec_pack(&sent.spec, &wire);
		assert_int_equal(wire.failed, 0);
		if (unpack(wire.data, wire.len, &got.spec, &err))
			fail_msg("round %d: %s", round, err.text);
		assert_memory_equal(&sent.spec, &got.spec, sizeof(sent.spec));
		buf_release(&wire);
	}
}

static void defaults_need_no_wire(void **state)
{
	struct request request;
	struct buf wire = BUF_INIT;
	struct spec spec;

	(void)state;
	request_init(&request);
	spec_pack(&request.spec, &wire);
	assert_int_equal(wire.len, 0);
	assert_int_equal(unpack("", 0, &spec, NULL), 0);
	assert_memory_equal(&spec, &request.spec, sizeof(spec));
	buf_release(&wire);
}

static void bad_wires_are_refused(void **state)
{
	static const struct {
		const char *wire, *fragment;
	} bad[] = {
		{ "qps", "middle of a line" },
		{ "qps=2", "middle of a line" },
		{ "qps=2\nverb", "middle of a line" },
		{ "\n", "without '='" },
		{ "qps\n", "without '='" },
		{ "qqs=2\n", "unknown option: 'qqs'" },
		{ "=2\n", "unknown option: ''" },
		{ "numQps=2\n", "unknown option: 'numQps'" },
		{ "host=other\n", "not the test's: 'host'" },
		{ "ssh=rm -rf\n", "not the test's: 'ssh'" },
		{ "launched=on\n", "not the test's: 'launched'" },
		{ "memory_limit=1G\n", "not the test's: 'memory_limit'" },
		{ "qps=2\nqps=2\n", "'qps' twice" },
		{ "qps=\n", "qps needs a value" },
		{ "qps=0\n", "out of range" },
		{ "qps=99999999999999999999\n", "too large" },
		{ "qps=2 \n", "not a whole number" },
		{ "verb=erase\n", "is not auto, write" },
		{ "device=a\tb\n", "not text: 0x09" },
		{ "device=a\x7f\n", "not text: 0x7f" },
		{ "null_loss=nan\n", "not a number" },
		{ "percentiles=0\n", "out of range" },
		{ "percentiles=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17\n", "more than 16" },
		{ "cores=0-99999\n", "cores: " },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(bad); i++) {
		struct spec spec, before;
		struct error err = { 0 };
		int rc;

		memset(&spec, 0xa5, sizeof(spec));
		before = spec;
		rc = unpack(bad[i].wire, strlen(bad[i].wire), &spec, &err);
		if ((rc != -EPROTO && rc != -EINVAL) || err.code != rc || !strstr(err.text, bad[i].fragment))
			fail_msg("'%s': %d %s", bad[i].wire, rc, err.text);
		assert_memory_equal(&spec, &before, sizeof(spec));
	}
}

static void long_lines_are_refused(void **state)
{
	static char line[100000];
	struct spec spec;
	struct error err = { 0 };

	(void)state;
	memset(line, 'x', sizeof(line));
	memcpy(line, "device=", 7);
	line[sizeof(line) - 1] = '\n';
	assert_int_equal(unpack(line, sizeof(line), &spec, &err), -EPROTO);
	assert_non_null(strstr(err.text, "line of more than"));
	err.code = 0;
	memcpy(line + 7 + SPEC_NAME, "\n", 1);
	assert_int_equal(unpack(line, 8 + SPEC_NAME, &spec, &err), -EINVAL);
	assert_non_null(strstr(err.text, "is too long: 64 bytes, at most 63"));
	err.code = 0;
	assert_int_equal(unpack("qps=2\0\n", 7, &spec, &err), -EPROTO);
	assert_non_null(strstr(err.text, "not text: 0x00"));
}

/* Damaged descriptions are read or refused, never anything else; what is read is legal by every row. */
static void damaged_wires_do_no_harm(void **state)
{
	uint64_t seed = 2463534242u;
	unsigned refused = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct request request;
		struct buf wire = BUF_INIT;
		struct spec spec;
		struct error err = { 0 };

		draw_spec(&seed, &request);
		spec_pack(&request.spec, &wire);
		for (int hits = 0; wire.len && hits < 3; hits++)
			wire.data[draw(&seed) % wire.len] = (uint8_t)draw(&seed);
		if (unpack(wire.data, wire.len, &spec, &err)) {
			assert_true(*err.text);
			refused++;
		}
		buf_release(&wire);
	}
	assert_in_range(refused, ROUNDS / 2, ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_tests_survive_the_wire), cmocka_unit_test(defaults_need_no_wire),
		cmocka_unit_test(bad_wires_are_refused),         cmocka_unit_test(long_lines_are_refused),
		cmocka_unit_test(damaged_wires_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
