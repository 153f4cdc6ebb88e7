/* The volley of a scenario whose bursts all go to one host: before them, once, so that its clock alone can judge the senders'. */
#include "engine/volley.h"
#include "orch/share.h"

#include <errno.h>

#define NO_TEST UINT32_MAX

/* Messages must show at the receiver; the null device has none. */
static bool can_show(const struct spec *spec)
{
	return spec_bursts(spec) && spec->burst_profile != BURST_STORAGE && spec->driver != DRIVER_NULL &&
	       (transport_is_socket(spec->transport) || !(spec_verbs(spec) & ~TWO_SIDED_VERBS));
}

/* Whether all connections of a test end at one endpoint, and come from several. */
static bool is_incast(const struct plan *plan, uint32_t test)
{
	struct plan_cursor cursor;
	struct connection c, first;
	uint64_t count = 0;

	plan_begin(&cursor, plan, PLAN_ALL_HOSTS);
	while (plan_next(&cursor, &c)) {
		if (c.test != test)
			continue;
		if (count++ == 0)
			first = c;
		if (c.to != first.to || (count > 1 && c.from == first.from))
			return false;
	}
	return count > 1;
}

static uint32_t judged(const struct many *many)
{
	const struct plan *plan = many->conf->plan;

	const unsigned point = many->stage.point;

	for (uint32_t i = 0; i < plan->tests; i++)
		if (plan_runs(plan, i, point) && !(point && plan_runs(plan, i, 0)) &&
		    can_show(&plan->test[i].sweep.spec[0]) && is_incast(plan, i))
			return i;
	return NO_TEST;
}

static void take_part(const struct share *share, uint32_t test, struct error *err)
{
	for (uint32_t i = 0; i < share->groups; i++) {
		struct flow *flow = &share->flow[share->group[i].first_flow];

		if (share->group[i].test == test && (flow->sends || flow->receives) && volley_make(flow) < 0)
			error_set(err, flow->error.code, "%s", flow->error.text);
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
static void forget(struct share *share, uint32_t test, struct error *err)
{
	atomic_store(&share->control.arrived, 0);
	for (uint32_t i = 0; i < share->groups; i++) {
		const struct group *group = &share->group[i];

		for (uint32_t j = 0; group->test == test && !err->code && j < group->workers; j++)
			begin_anew(&share->flow[group->first_flow + j], err);
	}
}

int share_volley(struct many *many, struct error *err)
{
	const uint32_t test = judged(many);
	struct error mine = { 0 };
	int rc;

	if (test == NO_TEST)
		return 0;
	take_part(&many->share, test, &mine);
	rc = comm_agree(many->comm, &mine, many_deadline(many), err);
	if (rc < 0)
		return rc;
	many->volley = true;
	rc = traffic_phase(many, false, err);
	many->volley = false;
	if (rc < 0)
		return rc;
	in_root(many);
	forget(&many->share, test, &mine);
	return comm_agree(many->comm, &mine, many_deadline(many), err);
}
