/* Lists of names: what ranges in brackets stand for, and what is refused. */
#include "plan/names.h"

#include "base/error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(row) (sizeof(row) / sizeof((row)[0]))

static void names_are_expanded(void **state)
{
	static const struct {
		const char *text, *names;
	} cases[] = {
		{ "host", "host" },
		{ "host[0-3]", "host0 host1 host2 host3" },
		{ "host[0,2,4]", "host0 host2 host4" },
		{ "host[1-4,7]", "host1 host2 host3 host4 host7" },
		{ "node[01-03]", "node01 node02 node03" },
		{ "my_node_0[9-11]", "my_node_09 my_node_010 my_node_011" },
		{ "[08-12]", "08 09 10 11 12" },
		{ "n[098-101]", "n098 n099 n100 n101" },
		{ "r[1-2]n[1-3]", "r1n1 r1n2 r1n3 r2n1 r2n2 r2n3" },
		{ "a1,b[1-2],c", "a1 b1 b2 c" },
		{ "h[1-2].lan", "h1.lan h2.lan" },
		{ "localhost%[1-3]", "localhost%1 localhost%2 localhost%3" },
		{ "[0,0,1,1]", "0 0 1 1" },
		{ "[5]", "5" },
		{ "0,1", "0 1" },
		{ "fe80::1,10.0.0.[1-2]", "fe80::1 10.0.0.1 10.0.0.2" },
		{ "x[000000000-1]", "x000000000 x000000001" },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct names names = { 0 };
		struct error err = { 0 };
		char all[512] = "";

		if (names_expand(&names, cases[i].text, &err))
			fail_msg("%s: %s", cases[i].text, err.text);
		for (uint32_t k = 0; k < names.count; k++)
			snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", k ? " " : "", names.name[k]);
		assert_string_equal(all, cases[i].names);
		names_release(&names);
	}
}

static void names_are_refused_in_one_sentence(void **state)
{
	static const struct {
		const char *text, *sentence;
	} cases[] = {
		{ "", "a list has no empty item" },
		{ ",a", "a list has no empty item" },
		{ "a,", "a list has no empty item" },
		{ "a,,b", "a list has no empty item" },
		{ "h[", "'h[': a bracket is not closed" },
		{ "h[1-3", "'h[1-3': a bracket is not closed" },
		{ "h1-3]", "'h1-3]': a bracket is closed that was not opened" },
		{ "h[]", "'h[]': brackets hold numbers and ranges, as [0-3]" },
		{ "h[1,]", "brackets hold numbers and ranges" },
		{ "h[,1]", "brackets hold numbers and ranges" },
		{ "h[a-c]", "brackets hold numbers and ranges" },
		{ "h[1-]", "brackets hold numbers and ranges" },
		{ "h[-3]", "brackets hold numbers and ranges" },
		{ "h[1 - 3]", "brackets hold numbers and ranges" },
		{ "h[1;3]", "brackets hold numbers and ranges" },
		{ "h[1-2-3]", "brackets hold numbers and ranges" },
		{ "h[[1]]", "brackets hold numbers and ranges" },
		{ "h[3-1]", "'h[3-1]': the range ends below its start" },
		{ "h[8-012]", "have the same width, as [08-12]" },
		{ "h[1-03]", "have the same width" },
		{ "h[1-9999999999]", "a number in brackets has at most 9 digits" },
		{ "h[0-65536]", "the list has more than 65536 names" },
		{ "h[1-300]x[1-300]", "the list has more than 65536 names" },
		{ "ok,b[2-1]", "'b[2-1]': the range ends below its start" },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct names names = { 0 };
		struct error err = { 0 };

		if (names_expand(&names, cases[i].text, &err) >= 0)
			fail_msg("'%s' was taken", cases[i].text);
		if (!strstr(err.text, cases[i].sentence) || strchr(err.text, '\n'))
			fail_msg("'%s': %s", cases[i].text, err.text);
		names_release(&names);
	}
}

static void a_name_is_bounded(void **state)
{
	char text[300];
	struct names names = { 0 };
	struct error err = { 0 };

	(void)state;
	memset(text, 'h', sizeof(text));
	strcpy(text + 252, "[1-99]");
	assert_int_equal(names_expand(&names, text, &err), 0);
	assert_int_equal(names.count, 99);
	text[252] = 'h';
	strcpy(text + 253, "[100]");
	assert_int_equal(names_expand(&names, text, &err), -EINVAL);
	assert_non_null(strstr(err.text, "a name has at most 255 bytes"));
	names_release(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_expanded),
		cmocka_unit_test(names_are_refused_in_one_sentence),
		cmocka_unit_test(a_name_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
