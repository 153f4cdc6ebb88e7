/* Where a report goes: files that are whole or not there, terminals with and without colour, progress lines. */
#include "golden.h"
#include "made_up.h"
#include "report/report.h"

#include <dirent.h>
#include <limits.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- files --- */

static unsigned files_in(const char *folder)
{
	DIR *dir = opendir(folder);
	unsigned count_files = 0;
	const struct dirent *entry;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		count_files += entry->d_name[0] != '.';
	closedir(dir);
	return count_files;
}

static void test_file(void **state)
{
	char folder[] = "/tmp/fabperf-test-XXXXXX", path[PATH_MAX], link_path[PATH_MAX];
	struct error err = { 0 };
	struct results results;
	struct result result;
	struct stat st;
	char *text, *wanted;

	(void)state;
	make_bw(&result);
	results = results_of(&result);
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/r.json", folder);
	snprintf(link_path, sizeof(link_path), "%s/link.json", folder);
	assert_int_equal(report_json_file(&results, path, &err), 0);
	assert_int_equal(symlink("r.json", link_path), 0);
	assert_int_equal(report_json_file(&results, link_path, &err), 0); /* replaces what the link names */
	assert_int_equal(lstat(link_path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	text = read_file(path);
	wanted = report_json(&results);
	assert_string_equal(text, wanted);
	free(text);
	free(wanted);
	assert_int_equal(files_in(folder), 2);
	unlink(link_path);
	unlink(path);
	rmdir(folder);
	result_release(&result);
}

static void test_file_refused(void **state)
{
	static const struct {
		const char *path;
		int code;
	} cases[] = { { "/dev/full", -ENOSPC },
		      { "/dev/null/r.json", -ENOTDIR },
		      { "/nonexistent/r.json", -ENOENT },
		      { "/tmp", -EISDIR } };
	struct results results;
	struct result result;

	(void)state;
	make_bw(&result);
	results = results_of(&result);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = { 0 };

		assert_int_equal(report_json_file(&results, cases[i].path, &err), cases[i].code);
		assert_non_null(strstr(err.text, cases[i].path));
		assert_non_null(strstr(err.text, strerror(-cases[i].code)));
	}
	result_release(&result);
}

static void test_default_path(void **state)
{
	struct results results;
	struct result result;
	char path[100];

	(void)state;
	make_bw(&result);
	results = results_of(&result);
	report_json_default_path(results.started_unix_ns, path, sizeof(path));
	assert_string_equal(path, "./fabperf_results_20231114T221320.123Z.json");
	result_release(&result);
}

/* --- progress --- */

static void test_progress(void **state)
{
	struct progress_view view;
	char *screen = NULL, *lines = NULL;
	size_t size, lines_size;
	FILE *to = open_memstream(&screen, &size), *out = open_memstream(&lines, &lines_size);

	(void)state;
	progress_init(&view, to, true);
	assert_false(view.enabled); /* no terminal */
	progress_preparing(&view, "Preparing", 0.5);
	progress_traffic(&view, 1, 2);
	progress_end(&view);
	fflush(to);
	assert_int_equal(size, 0);
	progress_live(&view, out, &(struct live_line){ .at = 2.04, .gbps = 184.11, .mpps = 0.021934 });
	assert_string_equal(lines, "[  2.0s]  184.1 Gb/s  0.02193 Mpps\n");

	view.enabled = true;
	progress_preparing(&view, "Preparing", 1.9);
	assert_string_equal(screen, "\r\033[KPreparing | (1s)");
	progress_traffic(&view, 33, 34);
	assert_non_null(strstr(screen, "Running traffic [======================================> ] 97% "
				       "(33/34s, ~1s remaining)"));
	progress_traffic(&view, 35, 34);
	assert_non_null(strstr(screen, "[========================================] 100% (34 seconds)"));
	progress_live(
		&view, out,
		&(struct live_line){ .at = 3, .gbps = 3, .mpps = 1, .both = true, .to_server = 2, .to_client = 1 });
	fflush(to);
	assert_string_equal(screen + size - 4, "\r\033[K");
	assert_false(view.line_open);
	progress_traffic(&view, 7.2, 0);
	assert_non_null(strstr(screen, "Running traffic / (7s)"));
	progress_end(&view);
	fflush(to);
	assert_string_equal(screen + size - 4, "\r\033[K");
	fclose(to);
	fclose(out);
	free(screen);
	free(lines);
}

/* What a terminal gets of a short report and of a progress line. */
static void on_terminal(char *ret, size_t size)
{
	struct progress_view view;
	struct result result;
	int master, slave;
	ssize_t n;
	FILE *to;

	assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
	to = fdopen(slave, "w");
	make_never_connected(&result);
	report_terminal(to, &result);
	progress_init(&view, to, false);
	assert_false(view.enabled);
	progress_init(&view, to, true);
	assert_true(view.enabled);
	n = read(master, ret, size - 1);
	assert_true(n > 0);
	ret[n] = '\0';
	fclose(to);
	close(master);
	result_release(&result);
}

static void test_colour(void **state)
{
	char text[4096];

	(void)state;
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	on_terminal(text, sizeof(text));
	assert_non_null(strstr(text, "\033[31mFailed"));
	setenv("NO_COLOR", "1", 1);
	on_terminal(text, sizeof(text));
	assert_null(strchr(text, '\033'));
	unsetenv("NO_COLOR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),         cmocka_unit_test(test_file_refused),
		cmocka_unit_test(test_default_path), cmocka_unit_test(test_progress),
		cmocka_unit_test(test_colour),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
