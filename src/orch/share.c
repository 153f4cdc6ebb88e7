/* Makes a rank's share of a plan: its ends of connections, the groups that have workers in common, and their order. */
#include "orch/share.h"
#include "engine/lockstep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define compare(a, b) (((a) > (b)) - ((a) < (b)))

/* Aggressors behind victims, which so have the same cores in each phase. */
static int by_group(const void *a, const void *b, void *of)
{
	const struct plan *plan = of;
	const struct member *x = a, *y = b;
	const uint32_t ex = x->active ? x->c.from : x->c.to, ey = y->active ? y->c.from : y->c.to;
	int order = compare(plan->test[x->c.test].role, plan->test[y->c.test].role);

	order = order ? order : compare(x->c.test, y->c.test);
	order = order ? order : compare(ex, ey);
	order = order ? order : compare(x->active, y->active);
	order = order ? order : compare(x->c.bytes, y->c.bytes);
	return order ? order : compare(x->c.key, y->c.key);
}

static int by_key(const void *a, const void *b)
{
	const struct member *x = *(struct member *const *)a, *y = *(struct member *const *)b;
	int order = compare(x->c.test, y->c.test);

	order = order ? order : compare(x->c.key, y->c.key);
	return order ? order : compare(x->active, y->active);
}

/* How far the responder lies behind the requestor, round the ring of all endpoints: as with rounds, nobody waits for all. */
static uint32_t distance(const struct plan *plan, const struct connection *c)
{
	return c->to > c->from ? c->to - c->from : c->to + plan->endpoints - c->from;
}

static int in_turn(const void *a, const void *b, void *context)
{
	const struct member *x = *(struct member *const *)a, *y = *(struct member *const *)b;
	int order = compare(x->c.test, y->c.test);

	order = order ? order : compare(distance(context, &x->c), distance(context, &y->c));
	order = order ? order : compare(x->c.from, y->c.from);
	return order ? order : by_key(a, b);
}

static int add_member(struct share *share, const struct connection *c, bool active, struct error *err)
{
	const uint32_t cap = share->members ? share->members * 2 : 16;

	if (!share->members || (share->members >= 16 && !(share->members & (share->members - 1)))) {
		struct member *more = realloc(share->member, cap * sizeof(*more));

		if (!more)
			return error_set(err, -ENOMEM, "no memory for %u connections", cap);
		share->member = more;
	}
	share->member[share->members++] = (struct member){
		.c = *c, .active = active, .peer = share->plan->endpoint[active ? c->to : c->from].host
	};
	return 0;
}

static int add_members(struct share *share, struct stage stage, struct error *err)
{
	struct plan_cursor cursor;
	struct connection c;
	int rc = 0;

	plan_begin(&cursor, share->plan, share->rank);
	while (rc == 0 && plan_next(&cursor, &c)) {
		if (c.round != stage.round || !plan_runs(share->plan, c.test, stage.point))
			continue;
		if (share->plan->endpoint[c.from].host == share->rank)
			rc = add_member(share, &c, true, err);
		if (rc == 0 && share->plan->endpoint[c.to].host == share->rank)
			rc = add_member(share, &c, false, err);
	}
	return rc;
}

/* Whether an end cannot share its worker with others. */
static bool is_alone(const struct share *share, const struct spec *spec)
{
	const bool in_step = plan_in_step(share->plan);
	const bool told = spec->driver == DRIVER_NULL && (spec->null_loss > 0 || (spec_verbs(spec) & TWO_SIDED_VERBS));

	if (!in_step && (spec->validate || spec_has_list(spec)))
		return true;
	return spec->metric == METRIC_LAT || spec_is_paced(spec) || told || spec->transport == TRANSPORT_XRC ||
	       spec->rdma_cm == CHOICE_ON;
}

static bool same_group(const struct share *share, const struct group *group, const struct member *member)
{
	return group->test == member->c.test && group->active == member->active &&
	       share->member[group->first].c.bytes == member->c.bytes &&
	       group->endpoint == (member->active ? member->c.from : member->c.to);
}

static void open_group(struct share *share, struct group *group, uint32_t first, unsigned point)
{
	const struct member *member = &share->member[first];

	group->test = member->c.test;
	group->active = member->active;
	group->endpoint = member->active ? member->c.from : member->c.to;
	group->first = first;
	plan_spec(share->plan, &member->c, member->active, point, &group->spec);
	if (group->spec.validate) /* a message of another connection is a wrong one */
		group->spec.seed += (member->c.key + 1) * 1024 + member->c.test;
	if (plan_in_step(share->plan))
		lockstep_spec(&group->spec);
	group->first_flow = share->flows;
	group->workers = (uint32_t)group->spec.workers;
	share->flows += group->workers;
}

static void make_groups(struct share *share, unsigned point)
{
	struct group *group = NULL;
	uint64_t qps = 0;

	for (uint32_t i = 0; i < share->members; i++) {
		struct member *member = &share->member[i];

		if (!group || !same_group(share, group, member) || is_alone(share, &group->spec)) {
			group = &share->group[share->groups++];
			open_group(share, group, i, point);
			qps = group->spec.qps;
		}
		member->group = share->groups - 1;
		member->slot = group->members++;
		member->qps = (uint32_t)qps;
		group->spec.qps = qps * group->members;
	}
	for (uint32_t i = 0; i < share->groups; i++)
		share->group[i].spec.qp_histogram = share->group[i].spec.metric == METRIC_BW; /* counts of each end */
}

static int check_groups(const struct share *share, struct error *err)
{
	for (uint32_t i = 0; i < share->groups; i++) {
		const struct group *group = &share->group[i];

		if (group->spec.qps > RESULT_QPS)
			return error_set(
				err, -E2BIG,
				"%u connections of an endpoint need %llu queue pairs a worker; %u are allowed: give "
				"fewer --qps or more --num_processes",
				group->members, (unsigned long long)group->spec.qps, RESULT_QPS);
	}
	return 0;
}

int share_make(struct share *ret, const struct plan *plan, uint32_t rank, struct stage stage, struct error *err)
{
	int rc;

	*ret = (struct share){ .plan = plan, .rank = rank };
	rc = add_members(ret, stage, err);
	if (rc < 0)
		return rc;
	if (ret->members)
		qsort_r(ret->member, ret->members, sizeof(*ret->member), by_group, (void *)(uintptr_t)plan);
	ret->group = calloc(ret->members + 1, sizeof(*ret->group));
	ret->by_key = calloc(ret->members + 1, sizeof(struct member *));
	ret->in_turn = calloc(ret->members + 1, sizeof(struct member *));
	ret->to = calloc(plan->hosts, sizeof(*ret->to));
	ret->from = calloc(plan->hosts, sizeof(*ret->from));
	if (!ret->group || !ret->by_key || !ret->in_turn || !ret->to || !ret->from)
		return error_set(err, -ENOMEM, "no memory for %u connections", ret->members);
	make_groups(ret, stage.point);
	for (uint32_t i = 0; i < ret->members; i++)
		ret->by_key[i] = ret->in_turn[i] = &ret->member[i];
	qsort(ret->by_key, ret->members, sizeof(struct member *), by_key);
	qsort_r(ret->in_turn, ret->members, sizeof(struct member *), in_turn, (void *)(uintptr_t)plan);
	ret->flow = calloc(ret->flows + 1, sizeof(*ret->flow));
	if (!ret->flow)
		return error_set(err, -ENOMEM, "no memory for %u workers", ret->flows);
	return check_groups(ret, err);
}

int share_check(const struct plan *plan, uint32_t rank, struct error *err)
{
	int rc = 0;

	for (uint64_t i = 0; rc == 0 && i < plan_stages(plan); i++) {
		const struct stage stage = plan_stage(plan, i);
		struct share share;

		if (stage.round > 1)
			continue;
		rc = share_make(&share, plan, rank, stage, err);
		share_release(&share);
	}
	return rc;
}

struct member *share_find(const struct share *share, uint32_t test, uint64_t key, bool active)
{
	struct member wanted = { .c = { .test = test, .key = key }, .active = active };
	struct member *at = &wanted;
	struct member **found = bsearch(&at, share->by_key, share->members, sizeof(struct member *), by_key);

	return found ? *found : NULL;
}

void member_name(const struct member *member, struct buf *to)
{
	buf_put_u32(to, member->c.test);
	buf_put_u64(to, member->c.key);
	buf_put_u8(to, member->active);
}

struct member *share_named(const struct share *share, uint32_t peer, struct cursor *from)
{
	const uint32_t test = cursor_u32(from);
	const uint64_t key = cursor_u64(from);
	const bool active = cursor_u8(from) != 0;
	struct member *member = from->failed ? NULL : share_find(share, test, key, !active);

	return member && member->peer == peer ? member : NULL;
}

void share_release(struct share *share)
{
	for (uint32_t i = 0; share->group && i < share->groups; i++)
		rank_result_release(&share->group[i].result);
	for (uint32_t i = 0; share->to && share->from && i < share->plan->hosts; i++) {
		buf_release(&share->to[i]);
		buf_release(&share->from[i]);
	}
	for (uint32_t i = 0; i < share->members; i++)
		free(share->member[i].error);
	free(share->member);
	free(share->by_key);
	free(share->in_turn);
	free(share->group);
	free(share->flow);
	free(share->to);
	free(share->from);
	*share = (struct share){ 0 };
}
