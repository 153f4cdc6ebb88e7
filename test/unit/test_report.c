/* Renders made-up results and compares them with test/golden/report (UPDATE=1 rewrites it); progress, files, hostile text. */
#include "base/hist.h"
#include "report/report.h"
#include "report/tree.h"
#include "spec/option.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)

/* --- made-up results --- */

static void make_request(struct request *request, enum transport transport, enum verb verb, enum metric metric,
			 uint64_t size)
{
	request_init(request);
	snprintf(request->host, sizeof(request->host), "beta");
	request->spec.driver = transport_is_socket(transport) ? DRIVER_SOCK : DRIVER_IBV;
	request->spec.transport = transport;
	request->spec.verb = verb;
	request->spec.metric = metric;
	request->spec.size = size;
	request->spec.tx_depth = 128;
	request->spec.rx_depth = 512;
	request->spec.post_batch = 16;
	request->spec.cq_mod = 16;
	request->spec.working_set = 8 << 20;
	request->spec.events = CHOICE_OFF;
}

static void make_rank(struct rank_result *rank, bool client, uint32_t workers, bool hists)
{
	snprintf(rank->host, sizeof(rank->host), "%s", client ? "alpha" : "beta");
	snprintf(rank->version, sizeof(rank->version), "1.0.0");
	rank->active = client;
	rank->clock_offset_ns = client ? 0 : 1234567;
	rank->clock_error_ns = client ? 0 : 4321;
	rank->rss_bytes = 9 << 20;
	rank->buffer_bytes = 8 << 20;
	assert_int_equal(rank_result_alloc(rank, workers, hists), 0);
	for (uint32_t w = 0; w < workers; w++) {
		struct worker_result *worker = &rank->worker[w];

		worker->core = client ? 2 + w : 12 + w;
		worker->numa = client ? 0 : 1;
		worker->qps = 1;
		worker->begin_ns = 100 * SECOND + rank->clock_offset_ns + 1000 * w;
		worker->end_ns = worker->begin_ns + 10 * SECOND;
		worker->edge_error_ns = 1500;
		worker->cpu_user_ns = 9 * SECOND;
		worker->cpu_system_ns = SECOND / 2;
	}
}

static void count(struct worker_result *worker, bool sent, uint64_t messages)
{
	*(sent ? &worker->sent : &worker->received) = messages;
	*(sent ? &worker->total_sent : &worker->total_received) = messages + 1000;
	worker->edge_begin = worker->edge_end = 64;
	worker->interval_ns = SECOND / 2;
	worker->intervals = 20;
	for (unsigned i = 0; i < 20; i++)
		worker->interval_msgs[i] = messages / 20 + (i % 5) * 10;
}

static void make(struct result *result, const struct request *request, uint32_t workers)
{
	const bool lat = request->spec.metric == METRIC_LAT;

	result_init(result, request, 2);
	result->request.spec.workers = workers;
	result->measured = true;
	result->started_unix_ns = INT64_C(1700000000123456789);
	result->setup_seconds = 0.0123;
	result->drain_seconds = 0.00045;
	make_rank(&result->rank[0], true, workers, lat);
	make_rank(&result->rank[1], false, workers, false);
	for (unsigned i = 0; i < 2; i++) {
		facts_add(&result->rank[i].facts, "device", "Device", "rxe%u", i);
		facts_add(&result->rank[i].facts, "gid", "GID", "::ffff:10.0.0.%u (index 1, RoCE v2)", i + 1);
		facts_add_number(&result->rank[i].facts, "mtu", "MTU", 1024);
	}
}

/* 10 s of 65536-byte writes at 100 Gb/s. */
static void make_bw(struct result *result)
{
	struct request request;

	make_request(&request, TRANSPORT_RC, VERB_WRITE, METRIC_BW, 65536);
	make(result, &request, 1);
	result->rank[0].delivery = true;
	count(&result->rank[0].worker[0], true, 1907349);
	facts_add_number(&result->rank[0].facts, "linkGbSec", "Link Gbit/s", 200);
}

static void make_udp(struct result *result)
{
	struct request request;

	make_request(&request, TRANSPORT_UDP, VERB_SEND, METRIC_BW, 1024);
	request.spec.gso = CHOICE_ON;
	make(result, &request, 2);
	result->rank[1].counts_received = true;
	for (unsigned w = 0; w < 2; w++) {
		count(&result->rank[0].worker[w], true, 20000000);
		count(&result->rank[1].worker[w], false, 19800000);
		result->rank[1].worker[w].has_loss = true;
		result->rank[1].worker[w].lost = 200000;
		result->rank[1].worker[w].duplicated = 3;
		result->rank[1].worker[w].reordered = 70 + w;
		facts_add(&result->rank[w].facts, "offload", "Offload",
			  w ? "UDP GRO: datagrams joined by the kernel" : "UDP GSO: up to 64 datagrams a packet");
	}
}

static void make_lat(struct result *result)
{
	struct request request;

	make_request(&request, TRANSPORT_RC, VERB_SEND, METRIC_LAT, 8);
	make(result, &request, 1);
	count(&result->rank[0].worker[0], true, 1000000);
	for (unsigned i = 0; i < 1000000; i++)
		hist_record(result->rank[0].worker[0].hist, 4000 + i % 1000 + (i % 1000 == 7 ? 50000 : 0));
	hist_record(result->rank[0].worker[0].hist, 10000000);
}

static void make_short_read(struct result *result)
{
	struct request request;

	make_request(&request, TRANSPORT_RC, VERB_READ, METRIC_LAT, 8);
	request.spec.iterations = 1000;
	make(result, &request, 1);
	result->rank[0].worker[0].end_ns = result->rank[0].worker[0].begin_ns + 5000000;
	result->rank[0].worker[0].sent = 1000;
	result->rank[0].worker[0].timeouts = 2;
	result->rank[0].cores_shared = result->rank[1].cores_shared = true;
	for (unsigned i = 1; i <= 1000; i++)
		hist_record(result->rank[0].worker[0].hist, 1000 * (uint64_t)i);
}

static void make_never_connected(struct result *result)
{
	struct request request;

	make_request(&request, TRANSPORT_RC, VERB_WRITE, METRIC_BW, SPEC_AUTO);
	request.spec.bw_threshold = 90;
	result_init(result, &request, 0);
	result->status = RUN_FAILED;
	error_set(&result->error, -ECONNREFUSED, "beta: nothing listens at port 18720, and --launch_server is off");
}

static void make_failed_midway(struct result *result)
{
	make_udp(result);
	result->status = RUN_FAILED;
	error_set(&result->error, -ECONNRESET, "beta: the server ended before the test was over");
	error_set(&result->rank[1].worker[1].error, -EIO, "the socket was closed");
	rank_result_release(&result->rank[1]);
	result->rank[1].counts_received = false;
}

static void make_interrupted(struct result *result)
{
	make_bw(result);
	result->status = RUN_INTERRUPTED;
	error_set(&result->error, -EINTR, "stopped by SIGINT after 2.500 s");
	result->rank[0].worker[0].end_ns = result->rank[0].worker[0].begin_ns + 5 * SECOND / 2;
	count(&result->rank[0].worker[0], true, 476837);
	result->rank[0].worker[0].intervals = 5;
}

static void make_threshold(struct result *result)
{
	make_bw(result);
	result->request.spec.bw_threshold = 150;
	result->status = RUN_THRESHOLD;
}

/* Everything that is remarked upon at once. */
static void make_doubtful(struct result *result)
{
	make_bw(result);
	result->request.spec.transport = TRANSPORT_UC;
	result->rank[0].delivery = false;
	facts_add_number(&result->rank[0].facts, "linkGbSec", "Link Gbit/s", 40);
	result->rank[0].worker[0].edge_error_ns = 25000000;
	result->rank[0].worker[0].edge_begin = 100000;
	result->rank[0].worker[0].interval_msgs[3] = 100;
	result->rank[1].clock_error_ns = 30000000;
	error_set(&result->rank[0].worker[0].error, -EIO, "a completion reported an error");
}

static void make_many_workers(struct result *result)
{
	struct request request;

	make_request(&request, TRANSPORT_UD, VERB_SEND, METRIC_BW, 1024);
	make(result, &request, 70);
	result->rank[1].counts_received = true;
	for (unsigned w = 0; w < 70; w++) {
		count(&result->rank[0].worker[w], true, 1000000 + w);
		count(&result->rank[1].worker[w], false, 1000000 + w);
		result->rank[1].worker[w].end_ns += SECOND / 2;
	}
	result->rank[1].worker[0].total_received += 5;
}

static const struct golden {
	const char *name;
	void (*make)(struct result *result);
} goldens[] = {
	{ "bw", make_bw },
	{ "udp", make_udp },
	{ "lat", make_lat },
	{ "short_read", make_short_read },
	{ "never_connected", make_never_connected },
	{ "failed_midway", make_failed_midway },
	{ "interrupted", make_interrupted },
	{ "threshold", make_threshold },
	{ "doubtful", make_doubtful },
	{ "many_workers", make_many_workers },
};

/* --- comparing --- */

/* The folder beside this file's; GOLDEN names another. */
static void golden_path(const char *name, const char *ending, char ret[PATH_MAX])
{
	const char *folder = getenv("GOLDEN"), *slash = strrchr(__FILE__, '/');

	if (folder)
		snprintf(ret, PATH_MAX, "%s/%s.%s", folder, name, ending);
	else
		snprintf(ret, PATH_MAX, "%.*s/../golden/report/%s.%s", (int)(slash - __FILE__), __FILE__, name, ending);
}

static char *read_file(const char *path)
{
	char *text = NULL, chunk[4096];
	size_t size, n;
	FILE *from = fopen(path, "r"), *to = open_memstream(&text, &size);

	while (from && (n = fread(chunk, 1, sizeof(chunk), from)) > 0)
		fwrite(chunk, 1, n, to);
	if (from)
		fclose(from);
	fclose(to);
	return text;
}

static void check_golden(const char *name, const char *ending, const char *text)
{
	char path[PATH_MAX];
	char *wanted;
	FILE *to;

	golden_path(name, ending, path);
	if (getenv("UPDATE")) {
		to = fopen(path, "w");
		assert_non_null(to);
		assert_true(fputs(text, to) >= 0);
		assert_int_equal(fclose(to), 0);
	}
	wanted = read_file(path);
	if (strcmp(wanted, text))
		print_error("%s differs; UPDATE=1 rewrites it. This is what was rendered:\n%s", path, text);
	assert_string_equal(wanted, text);
	free(wanted);
}

static char *terminal(const struct result *result)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	report_terminal(to, result);
	assert_int_equal(fclose(to), 0);
	return text;
}

static json_t *parse(const struct result *result)
{
	char *text = report_json(result);
	json_t *root;

	assert_non_null(text);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	free(text);
	return root;
}

/* The document without what changes with every release or option: those have tests of their own. */
static char *stable_json(const struct result *result)
{
	json_t *root = parse(result);
	json_t *info = json_object_get(root, "versionInfo");
	char *text;

	assert_string_equal(json_string_value(json_object_get(info, "version")), FABPERF_VERSION);
	json_object_set_new(info, "version", json_string("0.0.0"));
	json_object_clear(json_object_get(root, "scenario"));
	text = tree_print(root);
	json_decref(root);
	return text;
}

static void test_goldens(void **state)
{
	struct result result;
	char *text;

	(void)state;
	for (size_t i = 0; i < sizeof(goldens) / sizeof(goldens[0]); i++) {
		goldens[i].make(&result);
		text = terminal(&result);
		check_golden(goldens[i].name, "txt", text);
		free(text);
		text = stable_json(&result);
		check_golden(goldens[i].name, "json", text);
		free(text);
		result_release(&result);
	}
}

/* --- the layout that scripts rely on --- */

static void test_value_ends_in_column_46(void **state)
{
	struct result result;
	char *text, *line, *rest = NULL;
	unsigned figures = 0;

	(void)state;
	make_udp(&result);
	text = terminal(&result);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!strstr(line, " [Gbit/sec]") && !strstr(line, " [Mpps]") && !strstr(line, " [messages]"))
			continue;
		assert_true(strlen(line) > 48);
		assert_true(line[45] >= '0' && line[45] <= '9');
		assert_int_equal(line[46], ' ');
		assert_int_equal(line[47], '[');
		figures++;
	}
	assert_true(figures >= 10);
	free(text);
	result_release(&result);
}

static void test_no_control_characters(void **state)
{
	struct result result;
	char *text;

	(void)state;
	make_bw(&result);
	snprintf(result.rank[1].host, sizeof(result.rank[1].host), "\033[2Jb\x01\xff\xc3\xa9");
	facts_add(&result.rank[1].facts, "device", "Dev\rice", "rxe\033]0;x\a");
	facts_add(&result.rank[1].facts, "bad key\n", "Bad", "x");
	text = terminal(&result);
	assert_null(strchr(text, '\033'));
	assert_null(strchr(text, '\r'));
	assert_non_null(strstr(text, "?[2Jb??\xc3\xa9"));
	free(text);
	json_decref(parse(&result));
	result_release(&result);
}

/* --- JSON --- */

static void test_scenario_has_every_option(void **state)
{
	struct result result;
	const json_t *scenario, *value;
	json_t *root;
	unsigned checked = 0;

	(void)state;
	make_lat(&result);
	result.request.spec.warmup_ns = 1500000000;
	root = parse(&result);
	scenario = json_object_get(root, "scenario");
	for (size_t i = 0; i < option_count; i++) {
		if (!option_rows[i].json)
			continue;
		checked++;
		assert_non_null(json_object_get(scenario, option_rows[i].json));
	}
	assert_int_equal(json_object_size(scenario), checked);
	value = json_object_get(scenario, "msgSize");
	assert_int_equal(json_integer_value(value), 8);
	assert_string_equal(json_string_value(json_object_get(scenario, "connectionType")), "RC");
	assert_string_equal(json_string_value(json_object_get(scenario, "mtu")), "auto");
	assert_true(fabs(json_real_value(json_object_get(scenario, "warmupTime")) - 1.5) < 1e-12);
	assert_true(json_is_array(json_object_get(scenario, "percentiles")));
	json_decref(root);
	result_release(&result);
}

static const json_t *at(const json_t *root, const char *key)
{
	const json_t *connection = json_array_get(json_object_get(root, "connections"), 0);

	return json_object_get(connection, key);
}

static void test_not_measured_is_null(void **state)
{
	struct result result;
	json_t *root;

	(void)state;
	make_never_connected(&result);
	root = parse(&result);
	assert_string_equal(json_string_value(json_object_get(root, "status")), "failed");
	assert_non_null(strstr(json_string_value(json_object_get(root, "error")), "nothing listens"));
	assert_true(json_is_null(json_object_get(at(root, "results"), "bwResults")));
	assert_true(json_is_null(at(root, "loss")));
	assert_true(json_is_null(json_object_get(at(root, "requestor"), "cpu")));
	assert_string_equal(json_string_value(json_object_get(at(root, "threshold"), "status")), "notMeasured");
	json_decref(root);
	result_release(&result);
}

/* The histogram of the document is the whole of it: its counts are the samples. */
static void test_histogram_adds_up(void **state)
{
	struct result result;
	const json_t *lat, *row;
	json_int_t sum = 0;
	json_t *root;
	size_t i;

	(void)state;
	make_lat(&result);
	root = parse(&result);
	lat = json_object_get(at(root, "results"), "latResults");
	json_array_foreach(json_object_get(lat, "histogram"), i, row)
	{
		assert_true(json_integer_value(json_array_get(row, 0)) <= json_integer_value(json_array_get(row, 1)));
		sum += json_integer_value(json_array_get(row, 2));
	}
	assert_int_equal(sum, 1000001);
	assert_int_equal(json_integer_value(json_object_get(lat, "samples")), sum);
	json_decref(root);
	result_release(&result);
}

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
	struct result result;
	struct stat st;
	char *text, *wanted;

	(void)state;
	make_bw(&result);
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/r.json", folder);
	snprintf(link_path, sizeof(link_path), "%s/link.json", folder);
	assert_int_equal(report_json_file(&result, path, &err), 0);
	assert_int_equal(symlink("r.json", link_path), 0);
	assert_int_equal(report_json_file(&result, link_path, &err), 0); /* replaces what the link names */
	assert_int_equal(lstat(link_path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	text = read_file(path);
	wanted = report_json(&result);
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
	struct result result;

	(void)state;
	make_bw(&result);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = { 0 };

		assert_int_equal(report_json_file(&result, cases[i].path, &err), cases[i].code);
		assert_non_null(strstr(err.text, cases[i].path));
		assert_non_null(strstr(err.text, strerror(-cases[i].code)));
	}
	result_release(&result);
}

static void test_default_path(void **state)
{
	struct result result;
	char path[100];

	(void)state;
	make_bw(&result);
	report_json_default_path(&result, path, sizeof(path));
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
	progress_live(&view, out, 2.04, 184.11, 0.021934);
	assert_string_equal(lines, "[  2.0s]  184.1 Gb/s  0.02193 Mpps\n");

	view.enabled = true;
	progress_preparing(&view, "Preparing", 1.9);
	assert_string_equal(screen, "\r\033[KPreparing | (1s)");
	progress_traffic(&view, 33, 34);
	assert_non_null(strstr(screen, "Running traffic [======================================> ] 97% "
				       "(33/34s, ~1s remaining)"));
	progress_traffic(&view, 35, 34);
	assert_non_null(strstr(screen, "[========================================] 100% (34 seconds)"));
	progress_live(&view, out, 3, 1, 1);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goldens),
		cmocka_unit_test(test_value_ends_in_column_46),
		cmocka_unit_test(test_no_control_characters),
		cmocka_unit_test(test_scenario_has_every_option),
		cmocka_unit_test(test_not_measured_is_null),
		cmocka_unit_test(test_histogram_adds_up),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_file_refused),
		cmocka_unit_test(test_default_path),
		cmocka_unit_test(test_progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
