/* Opens a rank's share: ports, memory and endpoints of all groups; their addresses travel at once, then all are connected. */
#include "engine/lockstep.h"
#include "mem/mem.h"
#include "orch/share.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define CONNECT_NS 20000000000LL /* for all connections of a rank: the other sides make them at the same time */

/* The cores there are for workers, in the order of preference, each once. */
static unsigned usable(struct core_list *list)
{
	unsigned period = 1;

	while (period < list->count && list->core[period] != list->core[0])
		period++;
	return period;
}

static int choose_cores(struct many *many, struct group *group, unsigned *next, struct error *err)
{
	const struct topo *topo = many->conf->topo;
	const char *device = group->spec.device;
	struct core_list all, exclude, none = { 0 };
	unsigned cores;
	int rc;

	group->node = topo_device_node(topo, device);
	if (group->spec.cores[0]) {
		rc = core_list_parse(group->spec.cores, &group->cores, err);
		rc = rc == 0 ? topo_check(topo, &group->cores, err) : rc;
	} else {
		rc = core_list_parse(group->spec.exclude_cores, &exclude, err);
		if (rc == 0)
			rc = topo_choose(topo, group->node, TOPO_MAX_CORES, &exclude, &none, &all, err);
		cores = rc == 0 ? usable(&all) : 1;
		for (unsigned i = 0; rc == 0 && i < group->workers; i++)
			group->cores.core[i] = all.core[(*next)++ % cores];
		group->cores.count = group->workers;
		many->share.cores_shared |= many->threads > cores;
	}
	if (rc == 0 && group->node < 0)
		group->node = topo_core_node(topo, group->cores.core[0]);
	return rc;
}

static int alloc_result(struct group *group, struct error *err)
{
	if (rank_result_alloc(&group->result, group->workers, group->spec.metric == METRIC_LAT) < 0 ||
	    (group->spec.qp_histogram && rank_result_alloc_qps(&group->result, (uint32_t)group->spec.qps) < 0))
		return error_set(err, -ENOMEM, "no memory for the results");
	return 0;
}

/* Whether a group is that of the test's first sender. */
static bool sends_first(const struct share *share, const struct group *group)
{
	struct plan_cursor cursor;
	struct connection c;

	plan_begin(&cursor, share->plan, PLAN_ALL_HOSTS);
	while (group->active && plan_next(&cursor, &c))
		if (c.test == group->test)
			return c.from == group->endpoint;
	return false;
}

/* Another one for each connection of each test, of which the first of a group stands for all; a worker has as many queue pairs. */
static uint64_t stream_of(const struct share *share, const struct group *group)
{
	const uint64_t key = share->member[group->first].c.key;

	return ((uint64_t)group->test << 56) + key * RESULT_WORKERS * RESULT_QPS;
}

static int open_flow(struct many *many, struct group *group, uint32_t i, struct error *err)
{
	struct share *share = &many->share;
	struct flow *flow = &share->flow[group->first_flow + i];
	const struct mem_host host = { .topo = many->conf->topo,
				       .node = group->node,
				       .cuda_lib_path = many->conf->cuda_lib_path,
				       .sysfs = many->conf->sysfs };
	const struct port_conf conf = { .spec = &group->spec,
					.clock = many->conf->clock,
					.worker = i,
					.workers = group->workers,
					.first = i == 0 && group->spec.null_delay_ns && sends_first(share, group),
					.active = group->active,
					.local = &many->here[share->rank].address,
					.remote = &many->here[share->member[group->first].peer].address,
					.closing = &share->closing };
	int rc;

	flow->spec = &group->spec;
	flow->engine = plan_in_step(share->plan) ? &engine_lockstep : engine_find(&group->spec);
	flow->drv = driver_find((enum driver_kind)group->spec.driver);
	flow->clock = many->conf->clock;
	flow->topo = many->conf->topo;
	flow->control = &share->control;
	flow->index = i;
	flow->number = group->endpoint;
	flow->peers = group->members;
	flow->stream = stream_of(share, group);
	flow->core = group->cores.core[i];
	flow->active = group->active;
	flow->result = &group->result.worker[i];
	if (!flow->engine || !flow->drv)
		return error_set(err, -EPROTO, "this executable has no such driver or metric");
	rc = flow_open(flow, &conf, &host, err);
	if (rc == 0 && plan_in_step(share->plan))
		rc = step_open(share, group, flow, err);
	flow->result->core = flow->core;
	flow->result->qps = group->spec.qps;
	flow->result->numa = flow->mem ? flow->mem->node : -1;
	flow->result->gpu = flow->mem ? flow->mem->gpu : -1;
	if (rc == 0 && flow->caps.in_turn)
		return error_set(err, -EOPNOTSUPP, "--use_ece is for two hosts: it does not go with many yet");
	return rc;
}

static int open_groups(struct many *many, struct error *err)
{
	const atomic_int *interrupted = many->conf->interrupted;
	struct share *share = &many->share;
	unsigned next = many->before;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < share->groups; i++) {
		struct group *group = &share->group[i];

		rc = choose_cores(many, group, &next, err);
		if (rc == 0)
			rc = alloc_result(group, err);
		for (uint32_t j = 0; rc == 0 && j < group->workers; j++)
			rc = open_flow(many, group, j, err);
		if (rc == 0 && interrupted && *interrupted)
			rc = error_set(err, -EINTR, "interrupted");
	}
	for (uint32_t i = 0; i < share->flows; i++)
		share->flow[i].yield = share->cores_shared;
	many->mine.cores_shared |= share->cores_shared;
	return rc;
}

int share_open(struct many *many, struct error *err)
{
	struct error mine = { 0 };

	many->share.control.followed = true;
	open_groups(many, &mine);
	return comm_agree(many->comm, &mine, many_deadline(many), err);
}

/* Of each queue pair in each flow: test, key and role of this end, then a block an address. */
static int put_addresses(const struct share *share, const struct member *member, struct buf *to, struct error *err)
{
	const struct group *group = &share->group[member->group];
	int rc = 0;

	member_name(member, to);
	buf_put_u32(to, group->workers * member->qps);
	for (uint32_t i = 0; rc == 0 && i < group->workers; i++)
		rc = flow_addresses_of(member_flow(share, member, i), member->slot * member->qps, member->qps, to, err);
	return rc;
}

/* The addresses of the other end, to be read when it is connected. */
static int take_addresses(const struct share *share, uint32_t peer, struct cursor *from, struct error *err)
{
	struct member *member = share_named(share, peer, from);
	const uint32_t count = cursor_u32(from);
	struct cursor skipped;

	if (from->failed || !member || count != share->group[member->group].workers * member->qps)
		return error_set(err, -EPROTO, "the addresses of host '%s' are of other connections than planned",
				 share->plan->host[peer].name);
	member->address = *from;
	for (uint32_t i = 0; i < count; i++)
		cursor_block(from, &skipped);
	return from->failed
		       ? error_set(err, -EPROTO, "the addresses of host '%s' are cut off", share->plan->host[peer].name)
		       : 0;
}

/* One message for each peer, and one from it; a rank that has connections with itself swaps with itself. */
int share_swap(struct many *many, int64_t deadline_ns, struct error *err)
{
	struct share *share = &many->share;
	const int rc = comm_exchange(many->comm, share->to, share->from, deadline_ns, err);
	struct buf own = share->from[share->rank];

	share->from[share->rank] = share->to[share->rank];
	share->to[share->rank] = own;
	for (uint32_t i = 0; i < many->comm->size; i++)
		buf_clear(&share->to[i]);
	return rc;
}

static int swap_addresses(struct many *many, struct error *err)
{
	struct share *share = &many->share;
	struct error mine = { 0 };
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < share->members; i++)
		rc = put_addresses(share, &share->member[i], &share->to[share->member[i].peer], &mine);
	rc = comm_agree(many->comm, &mine, many_deadline(many), err);
	if (rc == 0)
		rc = share_swap(many, many_deadline(many), err);
	for (uint32_t i = 0; rc == 0 && i < many->comm->size; i++) {
		struct cursor from;

		cursor_init(&from, share->from[i].data, share->from[i].len);
		while (rc == 0 && from.left)
			rc = take_addresses(share, i, &from, err);
	}
	for (uint32_t i = 0; rc == 0 && i < share->members; i++)
		if (!share->member[i].address.data)
			rc = error_set(err, -EPROTO, "host '%s' lacks a planned connection",
				       share->plan->host[share->member[i].peer].name);
	return rc;
}

struct connecting {
	struct many *many;
	bool active;
	int64_t deadline_ns;
	struct error error;
};

static int connect_member(struct connecting *work, struct member *member)
{
	const struct share *share = &work->many->share;
	struct error *err = &work->error;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < share->group[member->group].workers; i++)
		rc = flow_connect_some(member_flow(share, member, i), member->slot * member->qps, member->qps,
				       &member->address, work->deadline_ns, err);
	if (rc == 0)
		return 0;
	error_prefix(err, "%s '%s'", member->active ? "to" : "from", share->plan->host[member->peer].name);
	if (!many_goes_on(work->many))
		return rc;
	member_fail(&work->many->share, member, err);
	error_clear(err);
	return 0;
}

/*
 * All ranks connect in the same order, requestors and responders in threads of their own: of what is not yet connected,
 * both ends of the first are at it, so that no circle of ranks can wait for each other.
 */
static void *connect_all(void *argument)
{
	struct connecting *work = argument;
	const struct share *share = &work->many->share;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < share->members; i++)
		if (share->in_turn[i]->active == work->active)
			rc = connect_member(work, share->in_turn[i]);
	return NULL;
}

static int connect_both(struct many *many, struct error *err)
{
	const int64_t deadline_ns = clock_now(many->conf->clock) + CONNECT_NS;
	struct connecting asks = { .many = many, .active = true, .deadline_ns = deadline_ns },
			  answers = { .many = many, .deadline_ns = deadline_ns };
	pthread_t thread;
	int rc = pthread_create(&thread, NULL, connect_all, &answers);

	if (rc)
		return error_sys(err, -rc, "cannot start a thread that connects");
	connect_all(&asks);
	pthread_join(thread, NULL);
	if (asks.error.code)
		return error_set(err, asks.error.code, "%s", asks.error.text);
	return answers.error.code ? error_set(err, answers.error.code, "%s", answers.error.text) : 0;
}

int share_join(struct many *many, struct error *err)
{
	struct share *share = &many->share;
	struct error mine = { 0 };
	int rc = swap_addresses(many, err);

	if (rc < 0)
		return rc;
	rc = connect_both(many, &mine);
	if (rc == 0 && many_goes_on(many))
		rc = share_tell_failed(many, &mine);
	for (uint32_t i = 0; rc == 0 && i < share->flows; i++) {
		struct flow *flow = &share->flow[i];

		if (!flow->idle && flow->engine->prepare(flow) < 0)
			rc = error_set(&mine, flow->error.code, "%s", flow->error.text);
	}
	return comm_agree(many->comm, &mine, many_deadline(many), err);
}

void share_close(struct share *share)
{
	for (uint32_t i = 0; share->flow && i < share->flows; i++) {
		step_close(&share->flow[i]);
		flow_close(&share->flow[i]);
	}
}
