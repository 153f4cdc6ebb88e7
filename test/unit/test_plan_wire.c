/* Scenarios that travel: a rank plans its own connections as the first one does, in little memory; what is cut off or wrong is refused. */
#include "plan/plan.h"
#include "plan/wire.h"

#include "base/buf.h"
#include "base/error.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct request_host anywhere = { .has_rdma = true, .device_is_rdma = true };

/* The scenario in its wire form, and the plan that the first rank makes of it. */
static struct plan *plan_of(struct buf *wire, const char *const words[])
{
	struct scenario scenario;
	struct plan *plan = NULL;
	struct request request;
	struct error err = { 0 };

	request_init(&request);
	for (unsigned i = 0; words[i]; i += 2)
		if (option_set(&request, option_find(words[i]), words[i], words[i + 1], &err))
			fail_msg("%s", err.text);
	if (scenario_of_request(&scenario, &request, &anywhere, &err))
		fail_msg("%s", err.text);
	scenario_pack(&scenario, wire);
	if (plan_build(&plan, &scenario, &err))
		fail_msg("%s", err.text);
	scenario_release(&scenario);
	return plan;
}
#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* What another rank makes of the wire form; NULL: nothing, with a sentence. */
static struct plan *arrived(const struct buf *wire, size_t len, struct error *err)
{
	struct scenario scenario = { 0 };
	struct plan *plan = NULL;
	struct cursor from;

	cursor_init(&from, wire->data, len);
	if (scenario_unpack(&scenario, &from, err) == 0)
		plan_build(&plan, &scenario, err);
	scenario_release(&scenario);
	return plan;
}

/* The shares of both are the same connections in the same order. */
static void same_share(const struct plan *plan, const struct plan *mine, uint32_t host)
{
	struct plan_cursor a, b;
	struct connection x, y;

	plan_begin(&a, plan, host);
	plan_begin(&b, mine, host);
	while (plan_next(&a, &x)) {
		struct spec left, right;

		assert_true(plan_next(&b, &y));
		assert_true(x.test == y.test && x.from == y.from && x.to == y.to && x.both == y.both);
		assert_true(x.round == y.round && x.bytes == y.bytes && x.key == y.key);
		plan_spec(plan, &x, true, 0, &left);
		plan_spec(mine, &y, true, 0, &right);
		assert_memory_equal(&left, &right, sizeof(left));
	}
	assert_false(plan_next(&b, &y));
}

static void check_all_hosts(const char *const words[])
{
	struct buf wire = BUF_INIT;
	struct plan *plan = plan_of(&wire, words);
	struct error err = { 0 };
	struct plan *mine = arrived(&wire, wire.len, &err);

	if (!mine)
		fail_msg("%s", err.text);
	assert_int_equal(mine->connections, plan->connections);
	assert_int_equal(mine->rounds, plan->rounds);
	assert_int_equal(plan_points(mine), plan_points(plan));
	for (uint32_t i = 0; i < plan->tests; i++)
		assert_int_equal(mine->test[i].role, plan->test[i].role);
	for (uint32_t host = 0; host < plan->hosts; host++)
		same_share(plan, mine, host);
	plan_free(mine);
	plan_free(plan);
	buf_release(&wire);
}

static void plans_travel(void **state)
{
	static const char scenario[] =
		"{\"tests\": ["
		"{\"testNodes\": [{\"hostName\": \"n[1-4]\", \"deviceName\": \"d[0-1]\"}],"
		"\"trafficPattern\": \"A2A\", \"trafficPartition\": \"RAILED\", \"testName\": \"x\"},"
		"{\"testNodes\": [{\"hostName\": \"n4,m[1-3]\"}], \"trafficPattern\": \"RING\","
		"\"trafficDirection\": \"BIDIR\"}]}";
	static const char roles[] =
		"{\"testNodes\": [{\"hostName\": \"n[1-4]\"}], \"trafficPattern\": \"A2A\", \"role\": \"victim\","
		"\"tests\": [{\"metric\": \"lat\"}, {\"role\": \"aggressor\"}]}";

	(void)state;
	check_all_hosts(WORDS("traffic_pattern", "a2a", "host", "n[1-3]", "device", "d[0-1]", "bidirectional", "on"));
	check_all_hosts(WORDS("traffic_pattern", "a2a", "host", "n[1-5]", "peer_shifting", "on"));
	check_all_hosts(WORDS("traffic_pattern", "incast", "host", "n[1-5]", "dual_unidir", "on"));
	check_all_hosts(WORDS("input_file", scenario));
	check_all_hosts(WORDS("input_file", roles));
}

static void sizes_travel(void **state)
{
	char path[] = "/tmp/plan-XXXXXX";
	const int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");

	(void)state;
	fputs("[collective]\ntype = ALLTOALLV\ncounts = {\n 0,1,2,3\n 4,0,5,0\n 7,8,0,9\n 10,11,0,0\n}\n", file);
	fclose(file);
	check_all_hosts(WORDS("traffic_pattern", "a2a", "host", "n[1-2]", "device", "d[0-1]", "ptini_file", path));
	check_all_hosts(WORDS("traffic_pattern", "a2a", "host", "n[1-4]", "ptini_file", path, "peer_shifting", "on"));
	remove(path);
}

static size_t in_use(void)
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* 1,024 endpoints, all to all: a million connections, which nobody stores. */
static void a_large_plan_is_small(void **state)
{
	const size_t before = in_use();
	struct buf wire = BUF_INIT;
	struct plan *plan = plan_of(&wire, WORDS("traffic_pattern", "a2a", "host", "n[1-128]", "device", "d[0-7]")),
		    *mine;
	struct error err = { 0 };
	struct connection one;
	struct plan_cursor cursor;
	size_t begin, share = 0;

	(void)state;
	assert_int_equal(plan->connections, 1024 * 1023);
	assert_true(in_use() - before < 256u << 20);
	begin = in_use();
	mine = arrived(&wire, wire.len, &err);
	assert_non_null(mine);
	plan_begin(&cursor, mine, 77);
	while (plan_next(&cursor, &one))
		share++;
	assert_int_equal(share, 8 * 1023 + 8 * 1016);
	assert_true(in_use() - begin < 8u << 20);
	plan_free(mine);
	plan_free(plan);
	buf_release(&wire);
}

/* Any byte cut off or changed: an error or another plan, but no read beyond the end. */
static void damaged_scenarios(void **state)
{
	struct buf wire = BUF_INIT;
	struct plan *plan = plan_of(&wire, WORDS("traffic_pattern", "a2a", "host", "n[1-3]", "device", "d[0-1]"));

	(void)state;
	for (size_t i = 0; i < wire.len; i++) {
		struct error err = { 0 };

		assert_null(arrived(&wire, i, &err));
		assert_true(*err.text);
		wire.data[i] ^= 0xff;
		plan_free(arrived(&wire, wire.len, &err));
		wire.data[i] ^= 0xff;
	}
	plan_free(plan);
	buf_release(&wire);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_travel),
		cmocka_unit_test(sizes_travel),
		cmocka_unit_test(a_large_plan_is_small),
		cmocka_unit_test(damaged_scenarios),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
