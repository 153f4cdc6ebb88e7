/* A rank's share of a plan: every end is there once, groups fit, both ends find each other; and the wire forms around it. */
#include "orch/share.h"
#include "plan/wire.h"
#include "spec/part.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A scenario of one test over hosts and devices. */
static void make_scenario(struct scenario *ret, enum pattern pattern, const char *hosts, const char *devices,
			  enum metric metric)
{
	struct request request;
	struct error err = { 0 };

	request_init(&request);
	request.spec.driver = DRIVER_SOCK;
	request.spec.transport = TRANSPORT_TCP;
	request.spec.verb = VERB_SEND;
	request.spec.metric = metric;
	request.spec.size = 64;
	request.spec.qps = 2;
	request.spec.workers = 3;
	request.spec.tx_depth = request.spec.rx_depth = request.spec.post_batch = request.spec.cq_mod = 1;
	*ret = (struct scenario){ .tests = 1, .test = calloc(1, sizeof(*ret->test)) };
	ret->test->pattern = pattern;
	ret->test->nodes = 1;
	ret->test->node = calloc(1, sizeof(*ret->test->node));
	ret->test->node->hosts = strdup(hosts);
	ret->test->node->devices = strdup(devices);
	assert_int_equal(sweep_alloc(&ret->test->sweep, 1, &err), 0);
	ret->test->sweep.spec[0] = request.spec;
	ret->test->sweep.fresh[0] = true;
}

static struct plan *make_plan(enum pattern pattern, const char *hosts, const char *devices, enum metric metric)
{
	struct scenario scenario;
	struct plan *plan = NULL;
	struct error err = { 0 };

	make_scenario(&scenario, pattern, hosts, devices, metric);
	if (plan_build(&plan, &scenario, &err))
		fail_msg("%s", err.text);
	scenario_release(&scenario);
	return plan;
}

static void check_share(const struct share *share, uint32_t groups)
{
	uint32_t flows = 0;

	assert_int_equal(share->groups, groups);
	for (uint32_t i = 0; i < share->groups; i++) {
		const struct group *group = &share->group[i];

		assert_int_equal(group->first_flow, flows);
		assert_int_equal(group->spec.qps, 2 * group->members);
		flows += group->workers;
		for (uint32_t k = 0; k < group->members; k++) {
			const struct member *member = &share->member[group->first + k];

			assert_int_equal(member->group, i);
			assert_int_equal(member->slot, k);
			assert_int_equal(member->active, group->active);
			assert_int_equal(group->endpoint, member->active ? member->c.from : member->c.to);
			assert_ptr_equal(share_find(share, member->c.test, member->c.key, member->active), member);
		}
	}
	assert_int_equal(share->flows, flows);
}

/* All ranks together have each connection's two ends, and each end's peer has the other one. */
static void check_plan(enum pattern pattern, const char *hosts, enum metric metric, uint32_t groups)
{
	struct plan *plan = make_plan(pattern, hosts, "x,y", metric);
	struct share *share = calloc(plan->hosts, sizeof(*share));
	struct error err = { 0 };
	uint64_t ends = 0;

	for (uint32_t i = 0; i < plan->hosts; i++) {
		assert_int_equal(share_make(&share[i], plan, i, plan_stage(plan, 0), &err), 0);
		check_share(&share[i], groups);
		ends += share[i].members;
	}
	assert_int_equal(ends, 2 * plan->connections);
	for (uint32_t i = 0; i < plan->hosts; i++) {
		for (uint32_t k = 0; k < share[i].members; k++) {
			const struct member *member = &share[i].member[k];
			const struct member *other =
				share_find(&share[member->peer], member->c.test, member->c.key, !member->active);

			assert_non_null(other);
			assert_int_equal(other->peer, i);
			assert_int_equal(other->c.from, member->c.from);
			assert_int_equal(other->c.to, member->c.to);
		}
	}
	for (uint32_t i = 0; i < plan->hosts; i++)
		share_release(&share[i]);
	free(share);
	plan_free(plan);
}

static void test_shares(void **state)
{
	(void)state;
	check_plan(PATTERN_ALL_TO_ALL, "h[1-4]", METRIC_BW, 4); /* two devices, each asks and answers */
	check_plan(PATTERN_ALL_TO_ALL, "h[1-3]", METRIC_LAT, 20); /* 2 * 5 connections asked for, as many answered */
	check_plan(PATTERN_RING, "h[1-3]", METRIC_BW, 4);
}

/* A rank's two threads that connect, one for each role, and how far each has come. */
struct walker {
	struct share share;
	uint32_t at[2];
};

/* What a thread is at; NULL: it has connected all. */
static const struct member *at(struct walker *w, bool active)
{
	while (w->at[active] < w->share.members && w->share.in_turn[w->at[active]]->active != active)
		w->at[active]++;
	return w->at[active] < w->share.members ? w->share.in_turn[w->at[active]] : NULL;
}

/* Both ends are at it: it is connected. */
static bool join(struct walker *all, uint32_t rank)
{
	const struct member *asks = at(&all[rank], true);
	const struct member *answers = asks ? at(&all[asks->peer], false) : NULL;

	if (!answers || answers->c.key != asks->c.key)
		return false;
	all[rank].at[true]++;
	all[asks->peer].at[false]++;
	return true;
}

/* Whatever the threads connect at one time, both ends have come to the first that is not connected yet. */
static void test_nobody_waits_in_a_circle(void **state)
{
	struct plan *plan = make_plan(PATTERN_ALL_TO_ALL, "h[1-5]", "x,y", METRIC_BW);
	struct walker *all = calloc(plan->hosts, sizeof(*all));
	struct error err = { 0 };
	uint64_t joined = 0, before;

	(void)state;
	for (uint32_t i = 0; i < plan->hosts; i++)
		assert_int_equal(share_make(&all[i].share, plan, i, plan_stage(plan, 0), &err), 0);
	do {
		before = joined;
		for (uint32_t i = 0; i < plan->hosts; i++)
			joined += join(all, i);
	} while (joined > before);
	assert_int_equal(joined, plan->connections);
	for (uint32_t i = 0; i < plan->hosts; i++)
		share_release(&all[i].share);
	free(all);
	plan_free(plan);
}

static void test_a_scenario_travels(void **state)
{
	struct scenario scenario, other = { 0 };
	struct buf packed = BUF_INIT, again = BUF_INIT;
	struct error err = { 0 };
	struct cursor from;

	(void)state;
	make_scenario(&scenario, PATTERN_ALL_TO_ALL, "h[1-4]", "x,y", METRIC_BW);
	scenario_pack(&scenario, &packed);
	cursor_init(&from, packed.data, packed.len);
	if (scenario_unpack(&other, &from, &err))
		fail_msg("%s", err.text);
	assert_int_equal(from.left, 0);
	scenario_pack(&other, &again);
	assert_int_equal(again.len, packed.len);
	assert_memory_equal(again.data, packed.data, packed.len);
	scenario_release(&other);
	for (size_t len = 0; len < packed.len; len++) { /* cut off anywhere it is refused with a sentence */
		err = (struct error){ 0 };
		cursor_init(&from, packed.data, len);
		assert_true(scenario_unpack(&other, &from, &err) < 0);
		assert_true(err.text[0]);
		scenario_release(&other);
	}
	buf_release(&packed);
	buf_release(&again);
	scenario_release(&scenario);
}

static void test_a_part_travels(void **state)
{
	const struct part_head head = { .host = "h1", .version = "1", .rss_bytes = 5, .cores_shared = true, .ends = 1 };
	struct rank_result result = { .host = "h1", .active = true, .delivery = true };
	struct part_head other_head = { 0 };
	struct rank_result other = { 0 };
	struct buf packed = BUF_INIT;
	struct part_end end;
	struct cursor from;

	(void)state;
	assert_int_equal(rank_result_alloc(&result, 2, false), 0);
	result.worker[1].total_sent = 77;
	part_head_pack(&head, &packed);
	part_end_pack(3, 0x123456789abcULL, &result, &packed);
	cursor_init(&from, packed.data, packed.len);
	assert_int_equal(part_head_unpack(&other_head, &from), 0);
	assert_string_equal(other_head.host, "h1");
	assert_int_equal(other_head.ends, 1);
	assert_int_equal(part_end_unpack(&end, &from), 0);
	assert_int_equal(from.left, 0);
	assert_true(end.test == 3 && end.key == 0x123456789abcULL && end.active);
	assert_int_equal(rank_result_unpack(&other, &end.result), 0);
	assert_int_equal(other.worker[1].total_sent, 77);
	cursor_init(&from, packed.data, packed.len - 1);
	part_head_unpack(&other_head, &from);
	assert_true(part_end_unpack(&end, &from) < 0);
	rank_result_release(&result);
	rank_result_release(&other);
	buf_release(&packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_nobody_waits_in_a_circle),
		cmocka_unit_test(test_a_scenario_travels),
		cmocka_unit_test(test_a_part_travels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
