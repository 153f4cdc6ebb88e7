/* Checks what a server makes of a test that it gets: legal or not, and admitted by its own options or not. */
#include "cli/cli.h"
#include "words.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define LENGTH(row) (sizeof(row) / sizeof((row)[0]))

static const struct request_host bare = { .has_rdma = false };
static const struct request_host rdma = { .has_rdma = true };

static int resolve_line(const char *words, const struct request_host *host, struct request *ret, struct error *err)
{
	if (parse_line(words, ret, err))
		fail_msg("fabperf %s: %s", words, err->text);
	return request_resolve(ret, host, err);
}

static void tests_from_elsewhere_are_checked(void **state)
{
	struct request request;
	struct error err = { 0 };
	struct spec spec;

	(void)state;
	assert_int_equal(resolve_line("-n h -c UC -v send -s 4K", &rdma, &request, &err), 0);
	assert_int_equal(spec_check(&request.spec, &err), 0);
	spec = request.spec;
	spec.verb = VERB_READ;
	assert_int_equal(spec_check(&spec, &err), -EINVAL);
	assert_string_equal(err.text, "-v read does not go with -c UC, which takes -v write, write_imm or send");
	spec = request.spec;
	spec.post_batch = 129;
	err.code = 0;
	assert_int_equal(spec_check(&spec, &err), -EINVAL);
	assert_string_equal(err.text, "--post_batch 129 is more than -t 128: it can be at most as much");
	spec = request.spec;
	spec.tx_depth = SPEC_AUTO;
	err.code = 0;
	assert_int_equal(spec_check(&spec, &err), -EINVAL);
	assert_string_equal(err.text, "the test leaves -t open");
	spec = request.spec;
	spec.workers = 3;
	strcpy(spec.cores, "1-2");
	assert_int_equal(spec_check(&spec, NULL), -EINVAL);
}

static const struct {
	const char *server, *client, *sentence; /* NULL: admitted */
} admitted[] = {
	{ "", "-n h -c TCP", NULL },
	{ "-d other -C 5 --once", "-n h", NULL },
	{ "-d D -N 1 -c RC -v write -m bw -s 65536 -D 10", "-n h", NULL },
	{ "-s auto -t auto", "-n h -s 4K -t 4", NULL },
	{ "-s 4096", "-n h -s 4K", NULL },
	{ "-s 4K", "-n h", "this server was started with -s 4Ki, but the client's test has 64Ki" },
	{ "--msg_size 4K", "-n h", "this server was started with --msg_size 4Ki, but the client's test has 64Ki" },
	{ "-c TCP", "-n h", "this server was started with -c TCP, but the client's test has RC" },
	{ "-v send", "-n h", "this server was started with -v send, but the client's test has write" },
	{ "-D 5", "-n h", "this server was started with -D 5s, but the client's test has 10s" },
	{ "-D 10", "-n h -i 5", "this server was started with -D 10s, but the client's test ends by count" },
	{ "-w 2", "-n h --warmup_iterations 5",
	  "this server was started with -w 2s, but the client's test warms up by iterations" },
	{ "-C 3,4", "-n h -C 3,4", NULL },
	{ "-C 3", "-n h -C 3 -N 1", NULL },
	{ "--gso on", "-n h -c UDP", "this server was started with --gso on, but the client's test has auto" },
};

static void server_options_are_conditions(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(admitted); i++) {
		struct request server, client;
		struct error err = { 0 };
		int rc;

		if (resolve_line(admitted[i].server, &bare, &server, &err) ||
		    resolve_line(admitted[i].client, &rdma, &client, &err))
			fail_msg("%s: %s", admitted[i].server, err.text);
		rc = request_admits(&server, &client.spec, &err);
		if (rc != (admitted[i].sentence ? -EINVAL : 0))
			fail_msg("%s / %s: %d %s", admitted[i].server, admitted[i].client, rc, err.text);
		assert_string_equal(err.text, admitted[i].sentence ? admitted[i].sentence : "");
	}
}

static void own_cores_fix_the_number_of_workers(void **state)
{
	struct request server, client;
	struct error err = { 0 };

	(void)state;
	assert_int_equal(resolve_line("-C 3,4", &bare, &server, &err), 0);
	assert_int_equal(resolve_line("-n h", &rdma, &client, &err), 0);
	strcpy(client.spec.cores, "3,4");
	assert_int_equal(request_admits(&server, &client.spec, &err), -EINVAL);
	assert_string_equal(err.text,
			    "this server was started with -C 3,4, a core for each of 2 workers, but the client's "
			    "test has 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tests_from_elsewhere_are_checked),
		cmocka_unit_test(server_options_are_conditions),
		cmocka_unit_test(own_cores_fix_the_number_of_workers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
