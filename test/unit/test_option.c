/* Checks every row of the option table and its values there and back. */
#include "base/error.h"
#include "spec/option.h"
#include "spec/spec.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#define LENGTH(row) (sizeof(row) / sizeof((row)[0]))
#define ROUNDS      2000
/* A value of each option that is not its default, how it is written back, and one that is refused (NULL: none is). */
static const struct sample {
	const char *key, *value, *back, *refused;
} samples[] = {
	{ "host", "node2", "node2", "a\tb" },
	{ "device", "mlx5_0", "mlx5_0", "0123456789012345678901234567890123456789012345678901234567890123" },
	{ "rdma_driver", "SOCK", "sock", "doca" },
	{ "connection", "ud", "UD", "RD" },
	{ "verb", "Write_Imm", "write_imm", "writes" },
	{ "metric", "LAT", "lat", "latency" },
	{ "lat_mode", "ONE_WAY", "one_way", "half" },
	{ "msg_size", "64K", "64Ki", "0" },
	{ "all", "on", "on", "4" },
	{ "bidirectional", "on", "on", "maybe" },
	{ "validate", "on", "on", "perhaps" },
	{ "operations", "SEND:1024,atomic_fa:8", "send:1Ki,atomic_fa:8", "write" },
	{ "qps", "16", "16", "16385" },
	{ "duration", "1500ms", "1.5s", "99ms" },
	{ "iterations", "0x10", "16", "-1" },
	{ "warmup", "0", "0", "2 s" },
	{ "warmup_iterations", "5000", "5000", "5k" },
	{ "end_margin", "2.5", "2.5s", "1d" },
	{ "report_interval", "1", "1s", "1e3" },
	{ "num_processes", "4", "4", "0" },
	{ "cores", "5,7-9", "5,7-9", "9-7" },
	{ "exclude_cores", "0", "0", "," },
	{ "mem_type", "device", "device", "gpu" },
	{ "gpu", "1", "1", "256" },
	{ "cuda", "1", "1", "x" },
	{ "cuda_lib_path", "/lib64", "/lib64", "\x1b[m" },
	{ "sysfs", "/tmp/sys", "/tmp/sys", "/\n" },
	{ "hugepages", "2M", "2M", "3M" },
	{ "working_set", "1G", "1Gi", "1t" },
	{ "events", "off", "off", "maybe" },
	{ "tx_depth", "64", "64", "0" },
	{ "rx_depth", "64", "64", "32769" },
	{ "post_batch", "1", "1", "1025" },
	{ "cq_mod", "100", "100", "1.5" },
	{ "rate", "1.5Mpps", "1.5Mpps", "10Gpp" },
	{ "arrivals", "Poisson", "poisson", "random" },
	{ "burst_profile", "Sync_Burst", "sync_burst", "bursts" },
	{ "burst_size", "61", "61", "32769" },
	{ "burst_pause", "1.5", "1.5ms", "21s" },
	{ "rate_limit", "0.25", "250M", "1GB" },
	{ "rate_limit_type", "HW", "hw", "pp" },
	{ "burst_ms", "5", "5ms", "-1" },
	{ "pause_min", "50us", "50us", "a" },
	{ "pause_max", "500", "500ms", "20001" },
	{ "burst_count", "1000", "1000", "1k" },
	{ "link_rate", "400", "400G", "fast" },
	{ "sender_rate", "100", "100G", "1GB" },
	{ "second_incast", "e,f", "e,f", "a\nb" },
	{ "curve", "knee.svg", "knee.svg", "a\tb" },
	{ "burst_log", "bursts.csv", "bursts.csv", "a\tb" },
	{ "null_delay", "50us", "50us", "-5us" },
	{ "null_delay_every", "20", "20", "0" },
	{ "inline_size", "0", "0", "1025" },
	{ "max_rd_atomic", "16", "16", "0" },
	{ "buffer", "101M", "101Mi", "-1" },
	{ "alpha", "0.5", "0.5", "1025" },
	{ "buffer_limit", "50500k", "50500000", "x" },
	{ "start_skew", "15us", "15us", "1d" },
	{ "ecn_kmin", "400k", "400000", "-" },
	{ "ecn_kmax", "1600k", "1600000", "2T" },
	{ "ecn_pmax", "0.1", "0.1", "1.1" },
	{ "pfc_xoff", "64Ki", "64Ki", "much" },
	{ "cable", "40", "40", "40m" },
	{ "simulate", "on", "on", "maybe" },
	{ "ib_port", "2", "2", "0" },
	{ "gid_index", "3", "3", "256" },
	{ "mtu", "1024", "1024", "1000" },
	{ "service_level", "3", "3", "16" },
	{ "traffic_class", "104", "104", "256" },
	{ "control_traffic_class", "32", "32", "253" },
	{ "flow_label", "0xfffff", "1048575", "1048576" },
	{ "hop_limit", "1", "1", "0" },
	{ "pkey_index", "1", "1", "65536" },
	{ "qp_timeout", "18", "18", "32" },
	{ "retry_count", "0", "0", "8" },
	{ "rnr_retry", "6", "6", "8" },
	{ "min_rnr_timer", "1", "1", "32" },
	{ "start_psn", "0xABCDEF", "11259375", "0x1000000" },
	{ "ph", "3", "3", "4" },
	{ "tph_core_id", "7", "7", "-1" },
	{ "tph_mem", "pm", "pm", "dram" },
	{ "use_ece", "on", "on", "2" },
	{ "cc_group_hints", "file,8,1,1", "file,8,1,1", "\x01" },
	{ "engine", "gpunetio", "gpunetio", "fpga" },
	{ "rdma_cm", "on", "on", "auto" },
	{ "wr_api", "off", "off", "both" },
	{ "counters", "off", "off", "both" },
	{ "gso", "disable", "off", "2" },
	{ "zerocopy", "true", "on", "auto" },
	{ "sock_buf", "4M", "4Mi", "512" },
	{ "data_port", "20000", "20000", "65536" },
	{ "null_latency", "5us", "5us", "11s" },
	{ "null_rate", "100G", "100G", "100Gb" },
	{ "null_loss", "0.01", "0.01", "1.01" },
	{ "null_jitter", "10us", "10us", "2" },
	{ "seed", "42", "42", "one" },
	{ "percentiles", "25,50,99.9999", "25,50,99.9999", "50,50" },
	{ "bw_threshold", "92.5", "92.5", "-1" },
	{ "lat_threshold", "3", "3", "3us" },
	{ "qp_histogram", "on", "on", "maybe" },
	{ "json", "out.json", "out.json", "a\nb" },
	{ "print_json_results", "on", "on", "2" },
	{ "non_interactive", "on", "on", "perhaps" },
	{ "launch_server", "disable", "off", "auto" },
	{ "server_device", "rxe0", "rxe0", "\x7f" },
	{ "server_mem_type", "nullmr", "nullmr", "gpu" },
	{ "server_cores", "0-3", "0-3", "a" },
	{ "server_exe", "/opt/my tools/fabperf", "/opt/my tools/fabperf", "\x1b[m" },
	{ "server_username", "joe", "joe", "\r" },
	{ "ssh", "ssh -F file", "ssh -F file", "ssh\n-F" },
	{ "connect_timeout", "1", "1s", "0" },
	{ "port", "20000", "20000", "70000" },
	{ "bind", "::1", "::1", "\x01" },
	{ "once", "on", "on", "1" },
	{ "memory_limit", "1G", "1Gi", "1023" },
	{ "launched", "on", "on", "x" },
	{ "traffic_pattern", "A2A", "a2a", "mesh" },
	{ "traffic_partition", "RAILED", "railed", "rail" },
	{ "dual_unidir", "on", "on", "both" },
	{ "input_file", "scenario.json", "scenario.json", "a\nb" },
	{ "iteration_sync", "true", "on", "sometimes" },
	{ "peer_shifting", "on", "on", "left" },
	{ "ptini_file", "sizes.ptini", "sizes.ptini", "\x02" },
	{ "ptini_datatype", "Float64", "float64", "double" },
	{ "disable_connection_matrix", "on", "on", "no thanks" },
	{ "results_detail", "Summary", "summary", "all" },
	{ "mpirun", "/opt/ompi/bin/mpirun -v", "/opt/ompi/bin/mpirun -v", "mpi\nrun" },
	{ "mpi_tcp_network_interfaces", "10.7.8.0/24", "10.7.8.0/24", "\x03" },
	{ "summary", "on", "on", "short" },
	{ "help", "on", "on", "me" },
	{ "version", "on", "on", "2" },
};

static const struct sample *sample_of(const char *key)
{
	for (size_t i = 0; i < LENGTH(samples); i++)
		if (!strcmp(samples[i].key, key))
			return &samples[i];
	fail_msg("--%s has no sample in this test", key);
	return NULL;
}

static bool is_number(const struct option_row *row)
{
	return row->type == OPTION_INT || row->type == OPTION_LOAD || row->type == OPTION_SIZE ||
	       row->type == OPTION_RATE || row->type == OPTION_TIME || row->type == OPTION_REAL;
}

static void rows_have_all_texts(void **state)
{
	(void)state;
	assert_int_equal(option_count, LENGTH(samples) <= 256 ? LENGTH(samples) : 0);
	for (const struct option_row *row = option_rows; row < option_rows + option_count; row++) {
		const char *const texts[] = { row->key, row->help, row->unit, row->metavar, row->def, row->group };

		for (size_t i = 0; i < LENGTH(texts); i++)
			assert_non_null(texts[i]);
		if (!*row->help || row->help[strlen(row->help) - 1] == '.' || strlen(row->help) > 120 ||
		    (row->type != OPTION_FLAG && !*row->metavar))
			fail_msg("--%s: no short sentence without its full stop, or no value's name", row->key);
	}
}

static void rows_say_what_is_allowed(void **state)
{
	(void)state;
	for (const struct option_row *row = option_rows; row < option_rows + option_count; row++) {
		if (is_number(row) && !(row->min < row->max))
			fail_msg("--%s has no range", row->key);
		if (row->type == OPTION_TIME && strcmp(row->unit, row->bare ? row->bare : "s") != 0)
			fail_msg("--%s: a time is in seconds, or in what a bare number is", row->key);
		if (row->type == OPTION_ENUM && !row->names)
			fail_msg("--%s has no names", row->key);
		if ((row->flags & OPTION_WIRE) && !row->json)
			fail_msg("--%s is part of the test, but not of its JSON", row->key);
	}
}

/* The field of a row has the size that its type writes, and a test's option lies in struct spec. */
static void fields_fit_their_types(void **state)
{
	static const size_t sizes[] = {
		[OPTION_FLAG] = sizeof(bool),
		[OPTION_CHOICE] = sizeof(uint32_t),
		[OPTION_INT] = 8,
		[OPTION_SIZE] = 8,
		[OPTION_RATE] = 8,
		[OPTION_LOAD] = sizeof(struct load),
		[OPTION_TIME] = 8,
		[OPTION_REAL] = 8,
		[OPTION_ENUM] = sizeof(uint32_t),
		[OPTION_WORD] = sizeof(char *),
		[OPTION_CORES] = SPEC_TEXT,
		[OPTION_PERCENTILES] = SPEC_MAX_PERCENTILES * sizeof(double),
		[OPTION_OPERATIONS] = SPEC_OPS * sizeof(struct spec_op),
	};

	(void)state;
	for (const struct option_row *row = option_rows; row < option_rows + option_count; row++) {
		if (sizes[row->type] && row->size != sizes[row->type])
			fail_msg("--%s: its field has %zu bytes", row->key, row->size);
		if (row->offset + row->size > sizeof(struct request))
			fail_msg("--%s: its field is outside", row->key);
		if (!!(row->flags & OPTION_WIRE) != (row->offset < sizeof(struct spec)))
			fail_msg("--%s: is its field part of the test or not?", row->key);
		if ((row->flags & OPTION_AUTO) && (row->type == OPTION_TIME || row->type == OPTION_REAL))
			fail_msg("--%s: no automatic value for its type", row->key);
	}
}

static void names_are_unique(void **state)
{
	(void)state;
	for (size_t i = 0; i < option_count; i++) {
		const struct option_row *const a = &option_rows[i];

		for (size_t j = 0; j < i; j++) {
			const struct option_row *const b = &option_rows[j];

			if (!strcmp(a->key, b->key) || (a->letter && a->letter == b->letter) ||
			    a->offset == b->offset || (a->json && b->json && !strcasecmp(a->json, b->json)))
				fail_msg("--%s and --%s share a name or a field", a->key, b->key);
		}
		assert_int_equal(option_find(a->key), (int)i);
		assert_int_equal(option_find_letter(a->letter), a->letter ? (int)i : -1);
	}
}

static void defaults_are_legal(void **state)
{
	struct request request;
	char text[OPTION_VALUE_MAX];

	(void)state;
	request_init(&request);
	for (int row = 0; row < (int)option_count; row++) {
		struct request again;
		struct error err = { 0 };

		assert_false(option_given(&request, row));
		assert_true(option_is_default(&request, row));
		if (!*option_get(&request, row, text, sizeof(text)))
			continue;
		request_init(&again);
		if (option_set(&again, row, "x", text, &err) || !option_is_default(&again, row))
			fail_msg("--%s: default '%s' read as '%s': %s", option_rows[row].key, option_rows[row].def,
				 text, err.text);
	}
}

static void samples_go_there_and_back(void **state)
{
	(void)state;
	for (int row = 0; row < (int)option_count; row++) {
		const struct sample *const sample = sample_of(option_rows[row].key);
		struct request request, again;
		struct error err = { 0 };
		char text[OPTION_VALUE_MAX];
		const char *same;

		request_init(&request);
		request_init(&again);
		if (option_set(&request, row, "--x", sample->value, &err))
			fail_msg("--%s %s: %s", sample->key, sample->value, err.text);
		assert_string_equal(option_get(&request, row, text, sizeof(text)), sample->back);
		assert_true(option_given(&request, row));
		same = option_rows[row].type == OPTION_WORD ? sample->value : text; /* which is borrowed */
		assert_int_equal(option_set(&again, row, "--x", same, NULL), 0);
		assert_memory_equal(&request, &again, sizeof(request));
	}
}

/* One sentence that begins with the option as it was written, and nothing changed. */
static void refusals_change_nothing(void **state)
{
	(void)state;
	for (int row = 0; row < (int)option_count; row++) {
		const struct sample *const sample = sample_of(option_rows[row].key);
		struct request request, before;
		struct error err = { 0 };

		request_init(&request);
		before = request;
		assert_int_equal(option_set(&request, row, "-shown", sample->refused, &err), -EINVAL);
		assert_memory_equal(&request, &before, sizeof(request));
		if (strncmp(err.text, "-shown: ", 8) != 0 || strchr(err.text, '\n'))
			fail_msg("--%s '%s': %s", sample->key, sample->refused, err.text);
		assert_int_equal(option_set(&request, row, "-shown", sample->refused, NULL), -EINVAL);
		err.code = 0;
		assert_int_equal(option_set(&request, row, "-shown", "", &err), -EINVAL);
		assert_non_null(strstr(err.text, "-shown needs a value: "));
	}
}

static void auto_is_a_word_where_allowed(void **state)
{
	(void)state;
	for (int row = 0; row < (int)option_count; row++) {
		const struct option_row *const option = &option_rows[row];
		const bool allowed = option->flags & OPTION_AUTO;
		const bool any_word = option->type == OPTION_TEXT || option->type == OPTION_WORD;
		struct request request;
		char text[OPTION_VALUE_MAX];

		request_init(&request);
		assert_int_equal(option_set(&request, row, "-x", "AUTO", NULL), allowed || any_word ? 0 : -EINVAL);
		assert_true(!allowed || strcmp(option_get(&request, row, text, sizeof(text)), "auto") == 0);
		if (!any_word) {
			const char *word = strstr(option_allowed(option, text), "auto");

			assert_int_equal(word && (word == text || word[-1] != '_'), allowed); /* no cuda_auto_detect */
		}
	}
}

static void bare_options(void **state)
{
	struct request request;
	struct error err = { 0 };

	(void)state;
	request_init(&request);
	assert_false(request.json);
	assert_int_equal(option_set(&request, option_find("json"), "-j", NULL, &err), 0);
	assert_true(request.json && !*request.json_path);
	assert_int_equal(option_set(&request, option_find("gso"), "--gso", NULL, &err), 0);
	assert_int_equal(option_set(&request, option_find("once"), "--once", NULL, &err), 0);
	assert_true(request.once && request.spec.gso == CHOICE_ON);
	assert_int_equal(option_set(&request, option_find("qps"), "-q", NULL, &err), -EINVAL);
	assert_string_equal(err.text, "-q needs a value: 1 to 16384 queue pairs");
}

static void names_are_found_in_any_spelling(void **state)
{
	(void)state;
	assert_int_equal(option_find("MSG-size"), option_find("msg_size"));
	assert_true(option_find("msg_size") >= 0);
	assert_int_equal(option_find("msg"), -1);
	assert_int_equal(option_find(""), -1);
	assert_int_equal(option_find_letter('\0'), -1);
	assert_int_equal(option_find_letter('?'), -1);
}

static void near_names(void **state)
{
	static const char *const near[][2] = {
		{ "durtion", "duration" },     { "duraiton", "duration" }, { "DURATOIN", "duration" },
		{ "msgsize", "msg_size" },     { "tx-dept", "tx_depth" },  { "gsoo", "gso" },
		{ "sever_exe", "server_exe" }, { "perc", "percentiles" },  { "iter", "iterations" },
		{ "verbs", "verb" },           { "prot", "port" },         { "launch", "launch_server" },
	};
	static const char *const far[] = { "", "x", "xyz", "frobnicate", "launche_", "zz_zz", "du" };

	(void)state;
	for (size_t i = 0; i < LENGTH(near); i++)
		if (!option_nearest(near[i][0]) || strcmp(option_nearest(near[i][0]), near[i][1]) != 0)
			fail_msg("%s: %s", near[i][0], option_nearest(near[i][0]));
	for (size_t i = 0; i < LENGTH(far); i++)
		if (option_nearest(far[i]))
			fail_msg("%s: %s", far[i], option_nearest(far[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_have_all_texts),
		cmocka_unit_test(rows_say_what_is_allowed),
		cmocka_unit_test(fields_fit_their_types),
		cmocka_unit_test(names_are_unique),
		cmocka_unit_test(defaults_are_legal),
		cmocka_unit_test(samples_go_there_and_back),
		cmocka_unit_test(refusals_change_nothing),
		cmocka_unit_test(auto_is_a_word_where_allowed),
		cmocka_unit_test(bare_options),
		cmocka_unit_test(names_are_found_in_any_spelling),
		cmocka_unit_test(near_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
