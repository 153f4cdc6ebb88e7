/* Lists of values: what may be written, what it means, and which tests a request with lists becomes. */
#include "spec/sweep.h"

#include "base/buf.h"
#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct request_host no_rdma;

static void lists_are_read(void **state)
{
	static const struct {
		const char *option, *text;
		uint64_t value[9]; /* 0-terminated */
	} cases[] = {
		{ "msg_size", "8,64,4K", { 8, 64, 4096 } },
		{ "msg_size", "4K,8", { 4096, 8 } },
		{ "msg_size", "1:64:*2", { 1, 2, 4, 8, 16, 32, 64 } },
		{ "msg_size", "1:100:*10", { 1, 10, 100 } },
		{ "msg_size", "1K:5000:+1K", { 1024, 2048, 3072, 4096 } },
		{ "msg_size", "7,8:32:*2,1M,64:66:+1", { 7, 8, 16, 32, 1 << 20, 64, 65, 66 } },
		{ "msg_size", "512M:1G:*2", { 512u << 20, 1u << 30 } },
		{ "qps", "1,2,16384", { 1, 2, 16384 } },
		{ "tx_depth", "16:64:+16", { 16, 32, 48, 64 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const int row = option_find(cases[i].option);
		uint64_t value[SWEEP_MAX];
		struct error err = { 0 };
		unsigned count;

		if (list_parse(&option_rows[row], cases[i].text, value, &count, &err))
			fail_msg("%s: %s", cases[i].text, err.text);
		for (unsigned k = 0; k < count; k++)
			assert_int_equal(value[k], cases[i].value[k]);
		assert_int_equal(cases[i].value[count], 0);
	}
}

static void lists_are_refused_with_the_place(void **state)
{
	static const struct {
		const char *option, *text, *sentence;
	} cases[] = {
		{ "msg_size", "8,64,8", "-s: item 3: the value 8 is there twice" },
		{ "msg_size", "8,1:64:*2", "-s: item 2: the value 8 is there twice" },
		{ "msg_size", "1K,1024", "-s: item 2: the value 1024 is there twice" },
		{ "msg_size", ",8", "-s: item 1 is empty" },
		{ "msg_size", "8,", "-s: item 2 is empty" },
		{ "msg_size", "8,,9", "-s: item 2 is empty" },
		{ "msg_size", "8,0", "-s: item 2: '0' is out of range: 1 to 1Gi bytes or auto" },
		{ "msg_size", "8,2G", "-s: item 2: '2G' is out of range: 1 to 1Gi bytes or auto" },
		{ "msg_size", "8,auto", "-s: item 2, 'auto': a list names its values, so auto cannot be one" },
		{ "msg_size", "64:8:*2", "-s: item 1, '64:8:*2': the range ends below its start" },
		{ "msg_size", "8:8:*2", "-s: item 1, '8:8:*2': the first step already passes the end" },
		{ "msg_size", "8:15:*2", "-s: item 1, '8:15:*2': the first step already passes the end" },
		{ "msg_size", "8:64", "a range has a start, an end and a step" },
		{ "msg_size", "8:64:*2:3", "a range has a start, an end and a step" },
		{ "msg_size", "8:64:2", "a step is *N with N from 2 on, or +N with N from 1 on" },
		{ "msg_size", "8:64:*1", "a step is *N" },
		{ "msg_size", "8:64:+0", "a step is *N" },
		{ "msg_size", "8:64:*", "a step is *N" },
		{ "msg_size", "8:64:*1.5", "a step is *N" },
		{ "msg_size", ":64:*2", "-s: item 1 has an empty value" },
		{ "msg_size", "8::*2", "-s: item 1 has an empty value" },
		{ "msg_size", "1:64K:+1", "-s: item 1: the list has more than 1024 values" },
		{ "qps", "1,1K", "-q: item 2:" },
		{ "qps", "1,20000", "-q: item 2: '20000' is out of range: 1 to 16384" },
		{ "tx_depth", "1:8:+1K", "a step is *N" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const int row = option_find(cases[i].option);
		const char shown[] = { '-', option_rows[row].letter, '\0' };
		struct request request;
		struct error err = { 0 };

		request_init(&request);
		assert_true(option_set(&request, row, shown, cases[i].text, &err) < 0);
		if (!strstr(err.text, cases[i].sentence))
			fail_msg("%s: %s", cases[i].text, err.text);
		assert_false(option_given(&request, row));
	}
}

static void a_list_is_one_text_of_bounded_length(void **state)
{
	const int row = option_find("msg_size");
	struct request request;
	struct error err = { 0 };
	char text[400] = "1";

	(void)state;
	for (unsigned i = 2; strlen(text) < 300; i++)
		snprintf(text + strlen(text), 8, ",%u", i);
	request_init(&request);
	assert_true(option_set(&request, row, "-s", text, &err) < 0);
	assert_non_null(strstr(err.text, "write ranges"));
	assert_int_equal(option_set(&request, row, "-s", "8,16", &err), 0);
	assert_string_equal(option_get(&request, row, text, sizeof(text)), "8,16");
	assert_int_equal(request.spec.size, 8);
}

static void client(struct request *request, int count, const char *const *words)
{
	struct error err = { 0 };

	request_init(request);
	for (int i = 0; i < count; i += 2)
		if (option_set(request, option_find(words[i]), words[i], words[i + 1], &err))
			fail_msg("%s", err.text);
}
#define CLIENT(request, ...)                                                                                           \
	do {                                                                                                           \
		const char *const words[] = { "host", "x", __VA_ARGS__ };                                              \
		client(request, sizeof(words) / sizeof(words[0]), words);                                              \
	} while (0)

/* Queue pairs vary slowest, sizes fastest; a set-up begins with each combination of the other two. */
static void the_product_of_the_lists(void **state)
{
	static const uint64_t sizes[] = { 64, 4096 }, depths[] = { 16, 8 }, qps[] = { 3, 1 };
	struct request request;
	struct error err = { 0 };
	struct sweep sweep;
	unsigned i = 0;

	(void)state;
	CLIENT(&request, "rdma_driver", "null", "msg_size", "64,4K", "tx_depth", "16,8", "qps", "3,1");
	if (sweep_resolve(&sweep, &request, &no_rdma, &err))
		fail_msg("%s", err.text);
	assert_int_equal(sweep.count, 8);
	for (unsigned q = 0; q < 2; q++) {
		for (unsigned t = 0; t < 2; t++) {
			for (unsigned s = 0; s < 2; s++, i++) {
				assert_int_equal(sweep.spec[i].size, sizes[s]);
				assert_int_equal(sweep.spec[i].tx_depth, depths[t]);
				assert_int_equal(sweep.spec[i].qps, qps[q]);
				assert_int_equal(sweep.fresh[i], s == 0);
			}
		}
	}
	assert_int_equal(sweep_end(&sweep, 2), 4);
	assert_int_equal(request.spec.qps, 3);
	request = sweep_request(&sweep, &request, 7);
	assert_int_equal(request.spec.qps, 1);
	assert_string_equal(request.qps_list, "");
	sweep_release(&sweep);
}

/* Bursts vary faster than queue pairs, and each has a set-up of its own: as deep queues as it needs. */
static void bursts_of_several_sizes(void **state)
{
	struct request request;
	struct error err = { 0 };
	struct sweep sweep;

	(void)state;
	CLIENT(&request, "connection", "UDP", "burst_profile", "sync_burst", "burst_size", "8,500", "qps", "1,2");
	if (sweep_resolve(&sweep, &request, &no_rdma, &err))
		fail_msg("%s", err.text);
	assert_int_equal(sweep.count, 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(sweep.spec[i].qps, i / 2 + 1);
		assert_int_equal(sweep.spec[i].burst_size, i % 2 ? 500 : 8);
		assert_int_equal(sweep.spec[i].tx_depth, i % 2 ? 500 : 128);
		assert_true(sweep.fresh[i]);
	}
	request = sweep_request(&sweep, &request, 1);
	assert_string_equal(request.burst_list, "");
	sweep_release(&sweep);
}

/* What follows from a size follows for each test alone: as if it were the only one. */
static void each_test_is_what_it_would_be_alone(void **state)
{
	struct request request, alone;
	struct error err = { 0 };
	struct sweep sweep;

	(void)state;
	CLIENT(&request, "connection", "TCP", "msg_size", "64,1M");
	assert_int_equal(sweep_resolve(&sweep, &request, &no_rdma, &err), 0);
	for (unsigned i = 0; i < 2; i++) {
		CLIENT(&alone, "connection", "TCP", "msg_size", i ? "1M" : "64");
		assert_int_equal(request_resolve(&alone, &no_rdma, &err), 0);
		assert_memory_equal(&alone.spec, &sweep.spec[i], sizeof(alone.spec));
	}
	sweep_release(&sweep);
}

static uint64_t kilobyte(const struct spec *spec)
{
	(void)spec;
	return 1024;
}

static void all_sizes(void **state)
{
	static const struct {
		const char *driver, *connection;
		unsigned count;
		uint64_t last, device;
	} cases[] = {
		{ "null", "RC", 23, 8 << 20, 0 }, { "null", "UC", 23, 8 << 20, 0 },  { "null", "UD", 12, 4096, 0 },
		{ "null", "UD", 10, 1024, 1024 }, { "auto", "TCP", 23, 8 << 20, 0 }, { "auto", "UDP", 15, 32768, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct request_host host = { .message_max = cases[i].device ? kilobyte : NULL };
		struct request request;
		struct error err = { 0 };
		struct sweep sweep;

		CLIENT(&request, "rdma_driver", cases[i].driver, "connection", cases[i].connection, "all", "on");
		if (sweep_resolve(&sweep, &request, &host, &err))
			fail_msg("%s", err.text);
		assert_int_equal(sweep.count, cases[i].count);
		for (unsigned k = 0; k < sweep.count; k++)
			assert_int_equal(sweep.spec[k].size, UINT64_C(2) << k);
		assert_int_equal(sweep.spec[sweep.count - 1].size, cases[i].last);
		assert_int_equal(sweep_end(&sweep, 0), sweep.count);
		sweep_release(&sweep);
	}
}

static void refused(struct request *request, const char *sentence)
{
	struct error err = { 0 };
	struct sweep sweep;

	assert_true(sweep_resolve(&sweep, request, &no_rdma, &err) < 0);
	if (!strstr(err.text, sentence))
		fail_msg("%s", err.text);
}

static void sweeps_are_refused_by_the_value_that_cannot_be(void **state)
{
	struct request request;

	(void)state;
	CLIENT(&request, "rdma_driver", "null", "connection", "UD", "msg_size", "64,8K,128");
	refused(&request, "-s 8Ki does not go with -c UD: a message is one packet of at most 4096");
	CLIENT(&request, "rdma_driver", "null", "verb", "atomic_fa", "msg_size", "8,16");
	refused(&request, "-s 16 does not go with -v atomic_fa");
	CLIENT(&request, "rdma_driver", "null", "verb", "atomic_fa", "all", "on");
	refused(&request, "-a does not go with -v atomic_fa: an atomic operation has 8 bytes");
	CLIENT(&request, "rdma_driver", "null", "all", "on", "msg_size", "64");
	refused(&request, "-a and -s exclude each other");
	CLIENT(&request, "rdma_driver", "null", "msg_size", "1:512:+1", "qps", "1,2,3");
	refused(&request, "the lists make 1536 tests: at most 1024");
	CLIENT(&request, "connection", "TCP", "tx_depth", "1,2");
	refused(&request, "-t has no effect with -c TCP");
	CLIENT(&request, "rdma_driver", "null", "tx_depth", "16,4", "post_batch", "8");
	refused(&request, "--post_batch 8 is more than -t 4");
}

static void a_server_takes_no_list(void **state)
{
	struct request request;
	struct error err = { 0 };

	(void)state;
	request_init(&request);
	assert_int_equal(option_set(&request, option_find("qps"), "-q", "1,2", &err), 0);
	assert_true(request_resolve(&request, &no_rdma, &err) < 0);
	assert_non_null(strstr(err.text, "-q 1,2: a list is for a client"));
}

/* --- the wire --- */

static void packed(struct buf *to)
{
	struct request request;
	struct error err = { 0 };
	struct sweep sweep;

	CLIENT(&request, "rdma_driver", "null", "msg_size", "64,4K", "qps", "1,2");
	assert_int_equal(sweep_resolve(&sweep, &request, &no_rdma, &err), 0);
	sweep_pack(&sweep, to);
	sweep_release(&sweep);
}

static void tests_travel(void **state)
{
	struct buf data = BUF_INIT;
	struct error err = { 0 };
	struct cursor from;
	struct sweep sweep;

	(void)state;
	packed(&data);
	cursor_init(&from, data.data, data.len);
	if (sweep_unpack(&sweep, &from, &err))
		fail_msg("%s", err.text);
	assert_int_equal(sweep.count, 4);
	assert_int_equal(sweep.spec[3].size, 4096);
	assert_int_equal(sweep.spec[3].qps, 2);
	assert_true(sweep.fresh[0] && !sweep.fresh[1] && sweep.fresh[2] && !sweep.fresh[3]);
	sweep_release(&sweep);
	buf_release(&data);
}

static int unpack(const struct buf *data, size_t len, struct error *err)
{
	struct cursor from;
	struct sweep sweep;
	int rc;

	error_clear(err);
	cursor_init(&from, data->data, len);
	rc = sweep_unpack(&sweep, &from, err);
	sweep_release(&sweep);
	return rc;
}

static void lies_are_refused(void **state)
{
	struct buf data = BUF_INIT;
	struct error err = { 0 };

	(void)state;
	packed(&data);
	for (size_t len = 0; len < data.len; len++)
		assert_true(unpack(&data, len, &err) < 0);
	data.data[0] = 0;
	assert_true(unpack(&data, data.len, &err) < 0);
	assert_non_null(strstr(err.text, "a run has 1 to 1024 tests, not 0"));
	data.data[1] = 4;
	data.data[0] = 1;
	assert_true(unpack(&data, data.len, &err) < 0);
	assert_non_null(strstr(err.text, "not 1025"));
	buf_release(&data);
}

/* Another number of queue pairs needs a set-up of its own, whatever rank 0 says. */
static void endpoints_are_shared_by_like_tests_only(void **state)
{
	struct buf data = BUF_INIT;
	struct request request;
	struct error err = { 0 };
	struct sweep sweep;

	(void)state;
	CLIENT(&request, "rdma_driver", "null", "qps", "1,2");
	assert_int_equal(sweep_resolve(&sweep, &request, &no_rdma, &err), 0);
	sweep.fresh[1] = false;
	sweep_pack(&sweep, &data);
	sweep_release(&sweep);
	assert_true(unpack(&data, data.len, &err) < 0);
	assert_non_null(strstr(err.text, "test 2 cannot go on with the queue pairs of the test before"));
	buf_release(&data);
}

static void a_test_that_travels_has_no_list(void **state)
{
	const char text[] = "rdma_driver=null\nmsg_size=64,4K\n";
	struct error err = { 0 };
	struct cursor from;
	struct spec spec;

	(void)state;
	cursor_init(&from, (const uint8_t *)text, strlen(text));
	assert_true(spec_unpack(&spec, &from, &err) < 0);
	assert_non_null(strstr(err.text, "a test has one value of each option"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_read),
		cmocka_unit_test(lists_are_refused_with_the_place),
		cmocka_unit_test(a_list_is_one_text_of_bounded_length),
		cmocka_unit_test(the_product_of_the_lists),
		cmocka_unit_test(bursts_of_several_sizes),
		cmocka_unit_test(each_test_is_what_it_would_be_alone),
		cmocka_unit_test(all_sizes),
		cmocka_unit_test(sweeps_are_refused_by_the_value_that_cannot_be),
		cmocka_unit_test(a_server_takes_no_list),
		cmocka_unit_test(tests_travel),
		cmocka_unit_test(lies_are_refused),
		cmocka_unit_test(endpoints_are_shared_by_like_tests_only),
		cmocka_unit_test(a_test_that_travels_has_no_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
