/* The volleys before a scenario's bursts: where several send to one endpoint, its clock alone can judge the senders'. */
#include "engine/volley.h"
#include "orch/share.h"

#include <errno.h>
#include <stdlib.h>

#define NONE UINT32_MAX
#define MOST 16u /* volleys one after another; tests behind them have none */

/* Messages must show at the receiver; the null device has none. */
static bool can_show(const struct spec *spec)
{
	return spec_bursts(spec) && spec->burst_profile != BURST_STORAGE && spec->driver != DRIVER_NULL &&
	       (transport_is_socket(spec->transport) || !(spec_verbs(spec) & ~TWO_SIDED_VERBS));
}

/* The first endpoint of a test to which several others send in the stage at hand; `first` has room for what the first one is. */
static uint32_t find_judge(const struct many *many, uint32_t test, uint32_t *first)
{
	const struct plan *plan = many->conf->plan;
	struct plan_cursor cursor;
	struct connection c;

	for (uint32_t i = 0; i < plan->endpoints; i++)
		first[i] = NONE;
	plan_begin(&cursor, plan, PLAN_ALL_HOSTS);
	while (plan_next(&cursor, &c)) {
		if (c.test != test || c.round != many->stage.round)
			continue;
		if (first[c.to] == NONE)
			first[c.to] = c.from;
		else if (first[c.to] != c.from)
			return c.to;
	}
	return NONE;
}

/* Whether a test's traffic begins with the stage at hand, and its arrivals can be seen. */
static bool is_due(const struct many *many, uint32_t test)
{
	const struct plan *plan = many->conf->plan;
	const unsigned point = many->stage.point;

	return plan_runs(plan, test, point) && !(point && plan_runs(plan, test, 0)) &&
	       can_show(&plan->test[test].sweep.spec[0]);
}

/* judge[i]: the endpoint that judges test i, or NONE. Returns how many there are. */
static uint32_t find_judges(const struct many *many, uint32_t *judge, uint32_t *first)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < many->conf->plan->tests; i++) {
		judge[i] = found < MOST && is_due(many, i) ? find_judge(many, i, first) : NONE;
		found += judge[i] != NONE;
	}
	return found;
}

/* The first worker of each end of a connection to the judge: a volley has its turn when those of tests before it are over. */
static void take_part(struct share *share, const struct member *member, uint32_t turn, struct error *err)
{
	struct flow *flow = member_flow(share, member, 0);

	if (!flow->volley_ns && volley_make(flow) < 0)
		error_set(err, flow->error.code, "%s", flow->error.text);
	flow->volley_turn = turn;
	flow->volley_peer = member->slot;
}

static void take_parts(struct share *share, const uint32_t *judge, struct error *err)
{
	uint32_t turn = 0;

	for (uint32_t test = 0; test < share->plan->tests; test++) {
		for (uint32_t i = 0; i < share->members; i++)
			if (share->member[i].c.test == test && share->member[i].c.to == judge[test])
				take_part(share, &share->member[i], turn, err);
		turn += judge[test] != NONE;
	}
}

/* By rank 0's clock, as it is known now. */
static void in_root(struct many *many)
{
	for (uint32_t i = 0; i < many->share.flows; i++) {
		struct flow *flow = &many->share.flow[i];

		for (uint32_t j = 0; flow->volley_ns && j < flow->peers * RESULT_VOLLEYS; j++)
			if (flow->volley_ns[j])
				flow->volley_ns[j] = clocks_root(&many->clocks, many->comm->rank, flow->volley_ns[j]);
	}
}

static void begin_anew(struct flow *flow, struct error *err)
{
	flow->result->total_sent = flow->result->total_received = 0;
	if (flow_begin_anew(flow, flow->result, err) == 0 && !flow->idle && flow->engine->prepare(flow) < 0)
		error_set(err, flow->error.code, "%s", flow->error.text);
}

/* Its messages are none of the test's. */
static void forget(struct share *share, const uint32_t *judge, struct error *err)
{
	atomic_store(&share->control.arrived, 0);
	for (uint32_t i = 0; i < share->groups; i++) {
		const struct group *group = &share->group[i];

		for (uint32_t j = 0; judge[group->test] != NONE && !err->code && j < group->workers; j++)
			begin_anew(&share->flow[group->first_flow + j], err);
	}
}

static int carry_out(struct many *many, const uint32_t *judge, struct error *err)
{
	struct error mine = { 0 };
	int rc;

	take_parts(&many->share, judge, &mine);
	rc = comm_agree(many->comm, &mine, many_deadline(many), err);
	if (rc < 0)
		return rc;
	many->volley = true;
	rc = traffic_phase(many, false, err);
	many->volley = false;
	if (rc == 0) /* how the clocks drifted meanwhile */
		rc = clocks_sync(&many->clocks, many->comm, 0, many_deadline(many), err);
	if (rc < 0)
		return rc;
	in_root(many);
	forget(&many->share, judge, &mine);
	return comm_agree(many->comm, &mine, many_deadline(many), err);
}

int share_volley(struct many *many, struct error *err)
{
	const struct plan *plan = many->conf->plan;
	uint32_t *judge = calloc(plan->tests, sizeof(*judge)), *first = calloc(plan->endpoints, sizeof(*first));
	int rc = judge && first ? 0 : error_set(err, -ENOMEM, "no memory for %u endpoints", plan->endpoints);

	if (rc == 0 && find_judges(many, judge, first))
		rc = carry_out(many, judge, err);
	free(judge);
	free(first);
	return rc;
}
