/* Pattern files: the guide's sample, how else UCC's files may look, and one sentence for each that is refused. */
#include "plan/ptini.h"

#include "base/error.h"
#include "spec/option.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(row) (sizeof(row) / sizeof((row)[0]))
#define FLOAT32     8
#define INT8        0
#define HEAD        "[collective]\ntype = ALLTOALLV\n"

static int read_text(const char *text, uint32_t datatype, uint32_t ranks, uint32_t *ret, struct error *err)
{
	char copy[2048], name[] = "f.ptini";
	const struct ptini file = { .name = name, .text = copy, .datatype = datatype };

	snprintf(copy, sizeof(copy), "%s", text);
	return ptini_read(&file, ranks, ret, err);
}

static void the_sample_of_the_guide(void **state)
{
	static const char text[] = "[format]\nversion = 1.0\n\n[collective]\ntype = ALLTOALLV\nteam_size = 5\n"
				   "flags = COUNT_32BIT\ncounts = {\n"
				   "    0,        33554432, 262144,   2097152,  524288\n"
				   "    33554432, 0,        1048576,  0,        524288\n"
				   "    262144,   1048576,  0,        16777216, 524288\n"
				   "    2097152,  0,        16777216, 0,        524288\n"
				   "    2097152,  0,        16777216, 1048576,  0\n}\n";
	static const uint64_t sent[] = { 145752064, 140509184, 74448896, 77594624, 79691776 };
	static const uint64_t received[] = { 152043520, 138412032, 139460608, 79691776, 8388608 };
	uint32_t bytes[25];
	struct error err = { 0 };

	(void)state;
	if (read_text(text, FLOAT32, 5, bytes, &err))
		fail_msg("%s", err.text);
	for (unsigned i = 0; i < 5; i++) {
		uint64_t row = 0, column = 0;

		for (unsigned k = 0; k < 5; k++) {
			row += bytes[5 * i + k];
			column += bytes[5 * k + i];
		}
		assert_int_equal(row, sent[i]);
		assert_int_equal(column, received[i]);
	}
	assert_int_equal(bytes[1], 134217728);
}

/* All of them say 0 1 / 2 0, with whatever on the diagonal. */
static void layouts(void **state)
{
	static const char *const texts[] = {
		HEAD "counts = {\n 0, 1\n 2, 0\n}",
		HEAD "counts = {\n 0, 1,\n 2, 0,\n}\n",
		HEAD "counts = { 0, 1, 2, 0 }\n",
		HEAD "counts={0,1,2,0}",
		HEAD "counts: {\n0\n1\n2\n0\n   }\n",
		HEAD "counts = {\n 9, 1 ; the first row\n 2, 9 # the second\n }\n",
		HEAD "counts = {\n; a comment\n 0, 1\n\n # another\n 2, 0\n}\n; the end\n",
		HEAD "team_size = 2 ; ranks\nflags = COUNT_32BIT\ndatatype = int8\ncounts = {\n 0,1\n,2,,0\n}\n",
		"\xef\xbb\xbf[format]\r\nversion = 1.0\r\n[collective]\r\n  TYPE : alltoallv\r\ncounts = {\r\n 0, "
		"1\r\n 2, 0\r\n}\r\n",
		"[collective]\ntype = ALLTOALLV\ncounts = {\n 77777777777777777, 1\n 2, 0\n}\n",
		"[other]\ncounts = nonsense\ntype = ALLREDUCE\n" HEAD
		"counts = {\n 0, 1\n 2, 0\n}\n[more]\ncounts = x\n",
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(texts); i++) {
		static const uint32_t want[] = { 0, 4, 8, 0 };
		uint32_t bytes[4];
		struct error err = { 0 };

		if (read_text(texts[i], FLOAT32, 2, bytes, &err))
			fail_msg("%s: %s", texts[i], err.text);
		assert_memory_equal(bytes, want, sizeof(want));
	}
}

static void refusals(void **state)
{
	static const struct {
		const char *text, *sentence;
	} cases[] = {
		{ "", "f.ptini:1: there are no counts in a section [collective]" },
		{ "counts = {\n0,1,2,0\n}\n", "f.ptini:4: there are no counts in a section [collective]" },
		{ "[collective]\ncounts = {\n 0, 1\n 1, 0\n}\n",
		  "f.ptini:6: type is missing in the section [collective]: it must be ALLTOALLV" },
		{ "[collective]\ntype = ALLTOALL\n", "f.ptini:2: type must be ALLTOALLV, not 'ALLTOALL'" },
		{ HEAD "team_size = 3\n",
		  "f.ptini:3: team_size is 3, but the test has 2 endpoints, which are its ranks" },
		{ HEAD "team_size = two\n", "f.ptini:3: team_size is no number: 'two'" },
		{ HEAD "counts = {\n 0, 1\n 2\n}\n",
		  "f.ptini:6: counts has 3 values, but 2 ranks (endpoints of the test) need 4" },
		{ HEAD "counts = {\n 0, 1\n 2, 0, 5\n}\n",
		  "f.ptini:5: counts has more than 4 values, those of 2 ranks" },
		{ HEAD "counts = {}\n", "counts has 0 values" },
		{ HEAD "counts = {\n 0, 1\n 2, 0\n", "counts is not closed: a '}' is missing" },
		{ HEAD "counts = 0, 1\n", "f.ptini:3: counts begins with a '{' on its own line" },
		{ HEAD "counts = {\n 0, 1 2, 0\n}\n", "f.ptini:4: this is no count: '1 2'" },
		{ HEAD "counts = {\n 0, -1\n 2, 0\n}\n", "f.ptini:4: this is no count: '-1'" },
		{ HEAD "counts = {\n 0, 0x1\n 2, 0\n}\n", "f.ptini:4: this is no count: '0x1'" },
		{ HEAD "counts = {\n 0, 1.5\n 2, 0\n}\n", "this is no count: '1.5'" },
		{ HEAD "counts = {\n 0, many\n 2, 0\n}\n", "this is no count: 'many'" },
		{ HEAD "counts = {\n 0, 268435457\n 2, 0\n}\n",
		  "a message has at most 1 GiB, so this count is too large:" },
		{ HEAD "counts = {\n 0, 99999999999999999999999\n 2, 0\n}\n", "this count is too large:" },
		{ HEAD "counts = { 0,1,2,0 }\ncounts = { 0,1,2,0 }\n", "f.ptini:4: a second pattern: a test has one" },
		{ HEAD "counts = { 0,1,2,0 }\n" HEAD "counts = { 0,1,2,0 }\n", "f.ptini:5: a second pattern" },
		{ "[collective\n", "f.ptini:1: a section's name is not closed: a ']' is missing" },
		{ HEAD "what\n", "f.ptini:3: this line is neither [section] nor key = value" },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		uint32_t bytes[4];
		struct error err = { 0 };

		if (read_text(cases[i].text, FLOAT32, 2, bytes, &err) >= 0)
			fail_msg("'%s' was taken", cases[i].text);
		if (!strstr(err.text, cases[i].sentence) || strchr(err.text, '\n'))
			fail_msg("'%s': %s", cases[i].text, err.text);
	}
}

static void sizes_of_types(void **state)
{
	static const struct {
		const char *name;
		uint32_t bytes;
	} types[] = {
		{ "int8", 1 },
		{ "uint8", 1 },
		{ "int16", 2 },
		{ "uint16", 2 },
		{ "float16", 2 },
		{ "bfloat16", 2 },
		{ "int32", 4 },
		{ "uint32", 4 },
		{ "float32", 4 },
		{ "int64", 8 },
		{ "uint64", 8 },
		{ "float64", 8 },
		{ "int128", 16 },
		{ "uint128", 16 },
		{ "float128", 16 },
		{ "float32_complex", 8 },
		{ "float64_complex", 16 },
		{ "float128_complex", 32 },
	};
	const char *const *names = option_rows[option_find("ptini_datatype")].names;

	(void)state;
	for (size_t i = 0; i < LENGTH(types); i++) {
		uint32_t at = 0;

		while (names[at] && strcmp(names[at], types[i].name) != 0)
			at++;
		assert_non_null(names[at]);
		assert_int_equal(ptini_element_bytes(at), types[i].bytes);
	}
	assert_int_equal(ptini_element_bytes(LENGTH(types)), 0);
	assert_string_equal(names[FLOAT32], "float32");
	assert_string_equal(names[INT8], "int8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sample_of_the_guide),
		cmocka_unit_test(layouts),
		cmocka_unit_test(refusals),
		cmocka_unit_test(sizes_of_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
