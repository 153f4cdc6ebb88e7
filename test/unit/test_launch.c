/* The parts of reaching a server: words of a command, the ready line, local hosts, started processes and their log. */
#include "orch/launch.h"

#include "base/clock.h"
#include "base/wait.h"
#include "orch/comm.h"
#include "orch/reach.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct clock test_clock;

static int64_t in_seconds(double seconds)
{
	return clock_now(&test_clock) + (int64_t)(seconds * 1e9);
}

/* So many seconds from now. */
#define within(seconds) (&(const struct patience){ .clock = &test_clock, .deadline_ns = in_seconds(seconds) })

static void words_are_split_as_a_shell_would(void **state)
{
	static const struct {
		const char *text;
		unsigned count;
		const char *word[4];
	} cases[] = {
		{ "", 0, { NULL } },
		{ " \t ", 0, { NULL } },
		{ "ssh", 1, { "ssh" } },
		{ "  ssh  -F\tfile\n", 3, { "ssh", "-F", "file" } },
		{ "ssh -i 'my key' \"a b\"", 4, { "ssh", "-i", "my key", "a b" } },
		{ "a\\ b c", 2, { "a b", "c" } },
		{ "'' x\"\"y \"\"", 3, { "", "xy", "" } },
		{ "'a\"b' \"c'd\" 'e\\f'", 3, { "a\"b", "c'd", "e\\f" } },
		{ "\"q\\\"q\" \\'", 2, { "q\"q", "'" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct words words = { 0 };

		assert_int_equal(words_split(&words, cases[i].text, NULL), 0);
		assert_false(words.failed);
		assert_int_equal(words.count, cases[i].count);
		for (unsigned n = 0; n < words.count; n++)
			assert_string_equal(words.word[n], cases[i].word[n]);
		assert_null(words.word[words.count]);
	}
}

static void open_quotes_and_too_many_words_are_refused(void **state)
{
	static const char *const open[] = { "ssh 'a", "\"", "a\\", "x \"y\\" };
	struct error err = { 0 };
	struct words words = { 0 };
	char many[400];

	(void)state;
	for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
		assert_int_equal(words_split(&(struct words){ 0 }, open[i], NULL), -EINVAL);
	words_split(&(struct words){ 0 }, "ssh 'a", &err);
	assert_non_null(strstr(err.text, "a quote is not closed"));
	for (size_t i = 0; i < sizeof(many); i++)
		many[i] = i % 2 ? ' ' : 'x';
	many[sizeof(many) - 1] = '\0';
	assert_int_equal(words_split(&words, many, NULL), 0);
	assert_true(words.failed);
	words = (struct words){ 0 };
	for (unsigned i = 0; i < 50; i++)
		words_add(&words, "%0100u", i);
	assert_true(words.failed);
}

static void the_ready_line_is_read_as_it_is_written(void **state)
{
	char line[LAUNCH_READY_LINE];
	struct ready ready;

	(void)state;
	unsetenv("SSH_CONNECTION");
	assert_int_equal(ready_parse(launch_ready_line(54321, line, sizeof(line)), &ready, NULL), 0);
	assert_int_equal(ready.protocol, COMM_PROTOCOL);
	assert_string_equal(ready.version, FABPERF_VERSION);
	assert_int_equal(ready.port, 54321);
	assert_string_equal(ready.address, "-");
	setenv("SSH_CONNECTION", "2001:db8::1 40000 2001:db8::2 22", 1);
	assert_int_equal(ready_parse(launch_ready_line(1, line, sizeof(line)), &ready, NULL), 0);
	assert_string_equal(ready.address, "2001:db8::2");
	setenv("SSH_CONNECTION", "fe80::1%eth0 40000 fe80::2%eth0 22", 1);
	assert_int_equal(ready_parse(launch_ready_line(1, line, sizeof(line)), &ready, NULL), 0);
	assert_string_equal(ready.address, "-");
	setenv("SSH_CONNECTION", "nonsense", 1);
	assert_int_equal(ready_parse(launch_ready_line(1, line, sizeof(line)), &ready, NULL), 0);
	assert_string_equal(ready.address, "-");
	unsetenv("SSH_CONNECTION");
}

static void other_lines_are_told_from_malformed_ones(void **state)
{
	static const struct {
		const char *line;
		int rc;
	} lines[] = {
		{ "Welcome to this host", -EAGAIN },
		{ "", -EAGAIN },
		{ "fabperf-ready", -EAGAIN },
		{ "fabperf-readyish 1 2 3", -EAGAIN },
		{ "fabperf-ready ", -EPROTO },
		{ "fabperf-ready 2", -EPROTO },
		{ "fabperf-ready x 0.1.0 5 -", -EPROTO },
		{ "fabperf-ready 2 0.1.0 0 -", -EPROTO },
		{ "fabperf-ready 2 0.1.0 65536 -", -EPROTO },
		{ "fabperf-ready 2 0.1.0 -5 -", -EPROTO },
		{ "fabperf-ready 2 0.1.0 5", -EPROTO },
		{ "fabperf-ready 2 0.1.0 5 - more", -EPROTO },
		{ "fabperf-ready 99999999999 0.1.0 5 -", -EPROTO },
		{ "fabperf-ready 2 0.1.0 5 -\r", 0 },
		{ "fabperf-ready 3 7.0 what a later protocol says", 0 },
	};
	struct ready ready = { .port = 77 };

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct ready got = ready;
		const int rc = ready_parse(lines[i].line, &got, NULL);

		if (rc != lines[i].rc)
			fail_msg("'%s': %d", lines[i].line, rc);
		if (rc)
			assert_int_equal(got.port, 77);
	}
}

static void this_machine_is_known(void **state)
{
	static const char *const here[] = { "localhost", "127.0.0.1", "127.3.4.5", "::1", "::ffff:127.0.0.1" };
	static const char *const elsewhere[] = { "", "203.0.113.9", "2001:db8::9", "no-such-host.invalid",
						 "999.1.1.1" };

	(void)state;
	for (size_t i = 0; i < sizeof(here) / sizeof(here[0]); i++)
		assert_true(host_is_local(here[i]));
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		assert_false(host_is_local(elsewhere[i]));
}

static struct launch *start_shell(const char *script)
{
	struct launch *launch = NULL;
	struct words words = { 0 };
	struct error err = { 0 };

	words_add(&words, "sh");
	words_add(&words, "-c");
	words_add(&words, "%s", script);
	if (launch_spawn("sh", &words, "somewhere", false, &test_clock, &launch, &err))
		fail_msg("%s", err.text);
	return launch;
}

static void a_started_process_is_heard_and_ends_with_its_stdin(void **state)
{
	struct error why = { .code = -EIO, .text = "it failed" };
	struct ready ready;
	struct launch *launch = start_shell("echo some noise; echo fabperf-ready 2 0.1.0 99 -; cat; "
					    "printf 'one\\ntwo\\033[1m\\n' >&2");
	const int64_t limit = in_seconds(4);

	(void)state;
	assert_int_equal(ready_wait(launch, within(5), &ready, NULL), 0);
	assert_int_equal(ready.port, 99);
	launch_stop(launch, &why);
	assert_true(clock_now(&test_clock) < limit);
	assert_string_equal(why.text, "it failed (the server on host 'somewhere' wrote: one; two[1m)");
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	launch_stop(NULL, NULL);
}

static void an_early_end_and_a_late_one_are_told_apart(void **state)
{
	const struct request request = { 0 };
	struct error err = { 0 };
	struct ready ready;
	struct launch *launch = start_shell("echo my trouble >&2; exit 7");
	int status;

	(void)state;
	assert_int_equal(ready_wait(launch, within(5), &ready, &err), -ECHILD);
	assert_int_equal(launch_wait(launch, within(5), &status), 0);
	assert_int_equal(local_explain(launch, status, &request, &err), -ECHILD);
	assert_non_null(strstr(err.text, "(exit status 7): my trouble"));
	launch_stop(launch, NULL);
	launch = start_shell("exec cat");
	assert_int_equal(ready_wait(launch, within(0.1), &ready, NULL), -ETIMEDOUT);
	assert_int_equal(launch_wait(launch, within(0.1), &status), -ETIMEDOUT);
	launch_stop(launch, NULL);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void the_log_is_bounded_and_its_end_is_kept_whole(void **state)
{
	char text[100];
	int status;
	struct launch *launch =
		start_shell("i=0; while [ $i -lt 2000 ]; do echo line $i of the log; i=$((i + 1)); done >&2");

	(void)state;
	assert_int_equal(launch_wait(launch, within(20), &status), 0);
	launch_log(launch, text, sizeof(text));
	assert_non_null(strstr(text, "line 1999 of the log"));
	assert_memory_equal(text, "line ", 5);
	assert_true(launch_log_has(launch, "line 0 of"));
	assert_false(launch_log_has(launch, "line 2000 of"));
	launch_stop(launch, NULL);
	launch = start_shell("head -c 1000000 /dev/zero | tr '\\0' x >&2; true");
	assert_int_equal(launch_wait(launch, within(20), &status), 0);
	launch_log(launch, text, sizeof(text));
	assert_true(strlen(text) < sizeof(text));
	launch_stop(launch, NULL);
}

static void a_missing_command_is_named(void **state)
{
	struct launch *launch = NULL;
	struct words words = { 0 };
	struct error err = { 0 };

	(void)state;
	words_add(&words, "no-such-command");
	assert_int_equal(launch_spawn("no-such-command", &words, "there", true, &test_clock, &launch, &err), -ENOENT);
	assert_string_equal(err.text, "cannot run 'no-such-command' to start the server on host 'there': "
				      "No such file or directory");
	assert_null(launch);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static int set_up(void **state)
{
	(void)state;
	clock_init(&test_clock, true);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_split_as_a_shell_would),
		cmocka_unit_test(open_quotes_and_too_many_words_are_refused),
		cmocka_unit_test(the_ready_line_is_read_as_it_is_written),
		cmocka_unit_test(other_lines_are_told_from_malformed_ones),
		cmocka_unit_test(this_machine_is_known),
		cmocka_unit_test(a_started_process_is_heard_and_ends_with_its_stdin),
		cmocka_unit_test(an_early_end_and_a_late_one_are_told_apart),
		cmocka_unit_test(the_log_is_bounded_and_its_end_is_kept_whole),
		cmocka_unit_test(a_missing_command_is_named),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
