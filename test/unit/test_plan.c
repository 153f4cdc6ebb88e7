/* Plans: how many connections each pattern, direction and partition has, and that each is there once. */
#include "plan/plan.h"

#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(row) (sizeof(row) / sizeof((row)[0]))
#define MOST        64 /* endpoints of the plans that are looked at pair by pair */

/* A plan of one test whose nodes are "hosts" or "hosts devices" or "hosts devices gpus". */
static int build(struct plan **ret, const struct scenario_test *like, const char *const *nodes, struct error *err)
{
	struct scenario scenario = { .tests = 1, .test = calloc(1, sizeof(*scenario.test)) };
	struct scenario_test *test = scenario.test;
	int rc;

	*test = *like;
	while (nodes[test->nodes])
		test->nodes++;
	test->node = calloc(test->nodes, sizeof(*test->node));
	for (uint32_t i = 0; i < test->nodes; i++) {
		char text[256], *rest = text;

		snprintf(text, sizeof(text), "%s", nodes[i]);
		test->node[i].hosts = strdup(strsep(&rest, " "));
		if (rest)
			test->node[i].devices = strdup(strsep(&rest, " "));
		if (rest)
			test->node[i].gpus = strdup(rest);
	}
	rc = sweep_alloc(&test->sweep, 1, err);
	if (rc == 0)
		rc = plan_build(ret, &scenario, err);
	scenario_release(&scenario);
	return rc;
}

static struct plan *must_build(const struct scenario_test *like, const char *const *nodes)
{
	struct plan *plan = NULL;
	struct error err = { 0 };

	if (build(&plan, like, nodes, &err))
		fail_msg("%s: %s", nodes[0], err.text);
	return plan;
}

static bool kept(enum partition partition, unsigned devices, unsigned a, unsigned b)
{
	const bool same_host = a / devices == b / devices, same_device = a % devices == b % devices;

	switch (partition) {
	case PARTITION_RAILED:
		return !same_host && same_device;
	case PARTITION_LOCAL:
		return same_host;
	case PARTITION_REMOTE:
		return !same_host;
	case PARTITION_NONE:
		break;
	}
	return true;
}

/* Fills want[a][b] with 1 where endpoint a sends to b; says whether the pattern takes that many at all. */
static bool expect(const struct scenario_test *test, unsigned hosts, unsigned devices, uint8_t want[MOST][MOST])
{
	const unsigned n = hosts * devices;

	memset(want, 0, MOST * MOST);
	for (unsigned a = 0; a < n; a++) {
		for (unsigned b = 0; b < n; b++) {
			const bool sends[PATTERNS] = {
				[PATTERN_ONE_TO_ONE] = a == 0 && b == 1, [PATTERN_ONE_TO_MANY] = a == 0 && b > 0,
				[PATTERN_MANY_TO_ONE] = b == 0 && a > 0, [PATTERN_ALL_TO_ALL] = a != b,
				[PATTERN_BISECTION] = b == a + n / 2,    [PATTERN_RING] = b == (a + 1) % n,
			};

			if (!sends[test->pattern] || !kept(test->partition, devices, a, b))
				continue;
			want[a][b] = 1;
			if (test->direction != DIRECTION_UNIDIR)
				want[b][a] = 1;
		}
	}
	if (test->pattern == PATTERN_ONE_TO_ONE)
		return n == 2;
	return test->pattern == PATTERN_BISECTION ? n % 2 == 0 : n >= 2;
}

/* Closed forms without a partition. */
static uint64_t closed_form(const struct scenario_test *test, uint64_t n)
{
	const uint64_t of[PATTERNS] = {
		[PATTERN_ONE_TO_ONE] = 1,           [PATTERN_ONE_TO_MANY] = n - 1, [PATTERN_MANY_TO_ONE] = n - 1,
		[PATTERN_ALL_TO_ALL] = n * (n - 1), [PATTERN_BISECTION] = n / 2,   [PATTERN_RING] = n
	};

	if (test->pattern == PATTERN_ALL_TO_ALL)
		return test->direction == DIRECTION_BIDIR ? n * (n - 1) / 2 : n * (n - 1);
	if (test->pattern == PATTERN_RING && n == 2)
		return test->direction == DIRECTION_BIDIR ? 1 : 2;
	return test->direction == DIRECTION_DUAL_UNIDIR ? 2 * of[test->pattern] : of[test->pattern];
}

/* Every directed pair that is wanted is there exactly once, and no other. */
static void compare(const struct plan *plan, uint8_t want[MOST][MOST])
{
	struct plan_cursor cursor;
	struct connection connection;
	uint64_t count = 0;

	plan_begin(&cursor, plan, PLAN_ALL_HOSTS);
	while (plan_next(&cursor, &connection)) {
		assert_int_equal(want[connection.from][connection.to], 1);
		want[connection.from][connection.to] = 2;
		if (connection.both) {
			assert_int_equal(want[connection.to][connection.from], 1);
			want[connection.to][connection.from] = 2;
		}
		count++;
	}
	assert_int_equal(count, plan->connections);
	for (uint32_t a = 0; a < plan->endpoints; a++)
		for (uint32_t b = 0; b < plan->endpoints; b++)
			if (want[a][b] == 1)
				fail_msg("%u to %u is missing", a, b);
}

/* What a host is given are those of all connections that touch it, with the same keys. */
static void compare_shares(const struct plan *plan)
{
	uint64_t *key = calloc(plan->connections, sizeof(*key));

	for (uint32_t host = 0; host < plan->hosts; host++) {
		struct plan_cursor all, own;
		struct connection one;
		uint64_t count = 0, mine = 0;

		plan_begin(&own, plan, host);
		while (plan_next(&own, &one)) {
			assert_true(plan->endpoint[one.from].host == host || plan->endpoint[one.to].host == host);
			for (uint64_t i = 0; i < count; i++)
				assert_int_not_equal(key[i], one.key);
			key[count++] = one.key;
		}
		plan_begin(&all, plan, PLAN_ALL_HOSTS);
		while (plan_next(&all, &one)) {
			bool found = false;

			if (plan->endpoint[one.from].host != host && plan->endpoint[one.to].host != host)
				continue;
			for (uint64_t i = 0; i < count; i++)
				found = found || key[i] == one.key;
			assert_true(found);
			mine++;
		}
		assert_int_equal(mine, count);
	}
	free(key);
}

static void check_counts(const struct scenario_test *test, unsigned hosts, unsigned devices)
{
	uint8_t want[MOST][MOST];
	const bool suits = expect(test, hosts, devices, want);
	char nodes[64];
	const char *const list[] = { nodes, NULL };
	struct plan *plan = NULL;
	struct error err = { 0 };
	bool some = false;

	for (unsigned a = 0; a < MOST; a++)
		for (unsigned b = 0; b < MOST; b++)
			some = some || want[a][b];
	snprintf(nodes, sizeof(nodes), "n[1-%u] mlx5_[0-%u]", hosts, devices - 1);
	if (!suits || !some) {
		if (build(&plan, test, list, &err) >= 0)
			fail_msg("%s %s %s was taken for %s", pattern_name(test->pattern),
				 direction_name(test->direction), partition_name(test->partition), nodes);
		assert_non_null(strstr(err.text, pattern_name(test->pattern)));
		assert_true(suits ? strstr(err.text, partition_name(test->partition)) != NULL : true);
		return;
	}
	plan = must_build(test, list);
	assert_int_equal(plan->hosts, hosts);
	assert_int_equal(plan->endpoints, hosts * devices);
	if (test->partition == PARTITION_NONE)
		assert_int_equal(plan->connections, closed_form(test, (uint64_t)hosts * devices));
	compare(plan, want);
	compare_shares(plan);
	plan_free(plan);
}

static void patterns_directions_partitions(void **state)
{
	(void)state;
	for (unsigned hosts = 1; hosts <= 5; hosts++)
		for (unsigned devices = 1; devices <= 3; devices++)
			for (uint32_t pattern = PATTERN_ONE_TO_ONE; pattern < PATTERNS; pattern++)
				for (uint32_t direction = 0; direction < 3; direction++)
					for (uint32_t partition = 0; partition < 4; partition++)
						check_counts(&(struct scenario_test){ .pattern = pattern,
										      .direction = direction,
										      .partition = partition },
							     hosts, devices);
}

static void counts_of_the_guide(void **state)
{
	static const struct {
		struct scenario_test test;
		const char *nodes[3];
		uint64_t connections;
	} cases[] = {
		{ { .pattern = PATTERN_ONE_TO_ONE }, { "node01 mlx5_0", "node02 mlx5_0" }, 1 },
		{ { .pattern = PATTERN_ONE_TO_MANY }, { "sender mlx5_0", "receiver[1-10] mlx5_0" }, 10 },
		{ { .pattern = PATTERN_MANY_TO_ONE }, { "aggregator mlx5_0", "client[01-20] mlx5_0" }, 20 },
		{ { .pattern = PATTERN_ALL_TO_ALL }, { "compute[01-16] mlx5_0" }, 240 },
		{ { .pattern = PATTERN_ALL_TO_ALL, .direction = DIRECTION_DUAL_UNIDIR },
		  { "compute[01-16] mlx5_0" },
		  240 },
		{ { .pattern = PATTERN_ALL_TO_ALL, .direction = DIRECTION_BIDIR }, { "compute[01-16] mlx5_0" }, 120 },
		{ { .pattern = PATTERN_BISECTION }, { "rack1-[01-10] mlx5_0", "rack2-[01-10] mlx5_0" }, 10 },
		{ { .pattern = PATTERN_RING }, { "compute[01-08] mlx5_0" }, 8 },
		{ { .pattern = PATTERN_ALL_TO_ALL }, { "node[01-16] mlx5_[0,1]" }, 992 },
		{ { .pattern = PATTERN_ALL_TO_ALL, .partition = PARTITION_RAILED }, { "node[01-16] mlx5_[0,1]" }, 480 },
		{ { .pattern = PATTERN_ALL_TO_ALL, .partition = PARTITION_LOCAL }, { "node[01-16] mlx5_[0,1]" }, 32 },
		{ { .pattern = PATTERN_ALL_TO_ALL, .partition = PARTITION_REMOTE }, { "node[01-16] mlx5_[0,1]" }, 960 },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct plan *plan = must_build(&cases[i].test, cases[i].nodes);

		assert_int_equal(plan->connections, cases[i].connections);
		plan_free(plan);
	}
}

/* Hosts outermost; devices and GPUs are paired; one GPU is for all devices. */
static void endpoints_in_their_order(void **state)
{
	static const struct {
		const char *nodes[4], *labels;
	} cases[] = {
		{ { "host[1-2] mlx5_[0-1]" }, "host1:mlx5_0 host1:mlx5_1 host2:mlx5_0 host2:mlx5_1" },
		{ { "h[1-2] mlx5_[0-1] [1,0]" }, "h1:mlx5_0:gpu1 h1:mlx5_1:gpu0 h2:mlx5_0:gpu1 h2:mlx5_1:gpu0" },
		{ { "h mlx5_[0-3] [0,0,1,1]" }, "h:mlx5_0:gpu0 h:mlx5_1:gpu0 h:mlx5_2:gpu1 h:mlx5_3:gpu1" },
		{ { "h mlx5_[0-1] 3" }, "h:mlx5_0:gpu3 h:mlx5_1:gpu3" },
		{ { "h,g" }, "h g" },
		{ { "dpu p0", "host mlx5_0,mlx5_1", "dpu p1" }, "dpu:p0 host:mlx5_0 host:mlx5_1 dpu:p1" },
		{ { "a", "b", "a" }, "a b" },
	};
	const struct scenario_test mesh = { .pattern = PATTERN_ALL_TO_ALL };

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct plan *plan = must_build(&mesh, cases[i].nodes);
		char all[512] = "", label[PLAN_LABEL];

		for (uint32_t k = 0; k < plan->endpoints; k++)
			snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", k ? " " : "",
				 plan_label(plan, k, label));
		assert_string_equal(all, cases[i].labels);
		plan_free(plan);
	}
}

static void endpoints_are_refused(void **state)
{
	static const struct {
		const char *nodes[3], *sentence;
	} cases[] = {
		{ { "h[1-2] mlx5_[0-2] [0-1]" }, "2 GPUs for 3 devices" },
		{ { "h[1-2] mlx5_0 [0-1]" }, "2 GPUs for 1 device:" },
		{ { "h[1-2] mlx5_0 x" }, "the GPU 'x' is no number from 0 to 255" },
		{ { "h[1-2] mlx5_0 256" }, "the GPU '256' is no number" },
		{ { "-oProxyCommand=x,b" }, "must not begin with '-'" },
		{ { "a;reboot,b" }, "has a ';', which no host name has" },
		{ { "h[1-2] mlx5_[" }, "a bracket is not closed" },
		{ { "h[1-65536] mlx5_[0-1]" }, "a test has at most 65536 endpoints" },
		{ { "h", "h" }, "ALL_TO_ALL takes at least two endpoints (hosts times devices), but there is 1" },
	};
	const struct scenario_test mesh = { .pattern = PATTERN_ALL_TO_ALL };

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct plan *plan = NULL;
		struct error err = { 0 };

		if (build(&plan, &mesh, cases[i].nodes, &err) >= 0)
			fail_msg("%s was taken", cases[i].nodes[0]);
		if (!strstr(err.text, cases[i].sentence))
			fail_msg("%s: %s", cases[i].nodes[0], err.text);
	}
}

/* A connection that the pattern makes twice is there once: duplicates go after the pattern, not before. */
static void repeated_endpoints(void **state)
{
	static const struct {
		struct scenario_test test;
		const char *nodes[5];
		uint64_t connections;
	} cases[] = {
		{ { .pattern = PATTERN_ALL_TO_ALL }, { "a", "a", "b" }, 2 },
		{ { .pattern = PATTERN_ONE_TO_MANY }, { "a", "b", "b", "a" }, 1 },
		{ { .pattern = PATTERN_MANY_TO_ONE }, { "a", "b", "b", "c" }, 2 },
		{ { .pattern = PATTERN_RING }, { "a", "b", "a", "c" }, 4 },
		{ { .pattern = PATTERN_RING, .direction = DIRECTION_BIDIR }, { "a", "b", "a", "c" }, 2 },
		{ { .pattern = PATTERN_RING, .direction = DIRECTION_DUAL_UNIDIR }, { "a", "b", "a", "c" }, 4 },
		{ { .pattern = PATTERN_BISECTION }, { "a", "a", "b", "c" }, 2 },
		{ { .pattern = PATTERN_BISECTION }, { "a", "a", "b", "b" }, 1 },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct plan *plan = must_build(&cases[i].test, cases[i].nodes);

		assert_int_equal(plan->connections, cases[i].connections);
		plan_free(plan);
	}
}

/* N - 1 rounds; in round p endpoint i sends to i + p; all ordered pairs once. */
static void peer_shifting(void **state)
{
	static const char *const nodes[] = { "compute[01-08] mlx5_0", NULL };
	const struct scenario_test test = { .pattern = PATTERN_ALL_TO_ALL, .peer_shifting = true };
	struct plan *plan = must_build(&test, nodes);
	struct plan_cursor cursor;
	struct connection one;
	uint32_t last = 0, in_round = 0;
	uint8_t want[MOST][MOST];

	(void)state;
	assert_int_equal(plan->connections, 56);
	assert_int_equal(plan->rounds, 7);
	plan_begin(&cursor, plan, PLAN_ALL_HOSTS);
	while (plan_next(&cursor, &one)) {
		assert_int_equal(one.to, (one.from + one.round) % 8);
		if (one.round != last)
			assert_int_equal(in_round, last ? 8 : 0);
		in_round = one.round == last ? in_round + 1 : 1;
		last = one.round;
	}
	assert_int_equal(last, 7);
	expect(&test, 8, 1, want);
	compare(plan, want);
	compare_shares(plan);
	plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_directions_partitions),
		cmocka_unit_test(counts_of_the_guide),
		cmocka_unit_test(endpoints_in_their_order),
		cmocka_unit_test(endpoints_are_refused),
		cmocka_unit_test(repeated_endpoints),
		cmocka_unit_test(peer_shifting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
