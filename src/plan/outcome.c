/* Puts the results of connections together from the parts of the ranks. */
#include "plan/outcome.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int outcome_init(struct outcome *ret, const struct request *request, const struct plan *plan, struct error *err)
{
	const unsigned points = plan_points(plan);

	*ret = (struct outcome){ .plan = plan, .request = *request };
	ret->stage = calloc(plan_stages(plan), sizeof(*ret->stage));
	ret->head = calloc(plan->hosts, sizeof(*ret->head));
	ret->clock = calloc(plan->hosts, sizeof(*ret->clock));
	ret->counters = calloc(plan->hosts, sizeof(*ret->counters));
	ret->figure = calloc(points * plan->connections, sizeof(*ret->figure));
	ret->test = calloc((size_t)points * plan->tests, sizeof(*ret->test));
	return ret->stage && ret->head && ret->clock && ret->counters && ret->figure && ret->test
		       ? outcome_make_sums(ret, err)
		       : error_set(err, -ENOMEM, "no memory for the results of %u hosts", plan->hosts);
}

void outcome_begin(struct outcome *outcome, enum outcome_phase phase, double seconds)
{
	outcome->phase[outcome->now] += seconds - outcome->phase_begun;
	outcome->phase_begun = seconds;
	outcome->now = phase;
}

void outcome_release(struct outcome *outcome)
{
	for (uint32_t i = 0; i < outcome->parts; i++)
		buf_release(&outcome->part[i]);
	for (uint64_t i = 0; outcome->stage && i < outcome->done; i++)
		free(outcome->stage[i].clock);
	outcome_drop_bursts(outcome);
	outcome_drop_samples(outcome);
	outcome_drop_sums(outcome);
	for (uint32_t i = 0; outcome->counters && i < outcome->plan->hosts; i++)
		port_counters_release(&outcome->counters[i]);
	free(outcome->counters);
	free(outcome->part);
	free(outcome->stage);
	free(outcome->head);
	free(outcome->clock);
	free(outcome->end);
	free(outcome->figure);
	free(outcome->test);
	*outcome = (struct outcome){ 0 };
}

static int add_end(struct outcome *outcome, const struct part_end *end, uint32_t rank, struct error *err)
{
	if (outcome->ends == outcome->cap) {
		const uint32_t cap = outcome->cap ? outcome->cap * 2 : 64;
		struct outcome_end *more = realloc(outcome->end, cap * sizeof(*more));

		if (!more)
			return error_set(err, -ENOMEM, "no memory for the results of %u connections", cap);
		outcome->end = more;
		outcome->cap = cap;
	}
	outcome->end[outcome->ends++] = (struct outcome_end){ .stage = outcome->done,
							      .point = plan_stage(outcome->plan, outcome->done).point,
							      .test = end->test,
							      .rank = rank,
							      .key = end->key,
							      .active = end->active,
							      .result = end->result };
	return 0;
}

/* Takes over the bytes; NULL without memory. */
static const struct buf *keep(struct outcome *outcome, struct buf *part, struct error *err)
{
	if (outcome->parts == outcome->part_cap) {
		const uint32_t cap = outcome->part_cap ? outcome->part_cap * 2 : 64;
		struct buf *more = realloc(outcome->part, cap * sizeof(*more));

		if (!more) {
			error_set(err, -ENOMEM, "no memory for %u parts of the results", cap);
			return NULL;
		}
		outcome->part = more;
		outcome->part_cap = cap;
	}
	outcome->part[outcome->parts] = *part;
	*part = (struct buf)BUF_INIT;
	return &outcome->part[outcome->parts++];
}

/* Those of the latest stage are of all until then. */
static int take_counters(struct outcome *outcome, uint32_t rank, struct cursor *from, struct error *err)
{
	port_counters_release(&outcome->counters[rank]);
	if (port_counters_unpack(&outcome->counters[rank], from) != -ENOMEM)
		return 0; /* what cannot be read is noticed at the end */
	return error_set(err, -ENOMEM, "no memory for the counters of host '%s'", outcome->plan->host[rank].name);
}

int outcome_add(struct outcome *outcome, uint32_t rank, struct buf *part, struct error *err)
{
	struct part_head head = { 0 };
	const struct buf *kept;
	struct cursor from;
	int rc = 0;

	if (rank >= outcome->plan->hosts || outcome->done >= plan_stages(outcome->plan))
		return error_set(err, -EPROTO, "results came of rank %u of %u", rank, outcome->plan->hosts);
	kept = keep(outcome, part, err);
	if (!kept)
		return err->code;
	cursor_init(&from, kept->data, kept->len);
	part_head_unpack(&head, &from);
	rc = take_counters(outcome, rank, &from, err);
	for (uint32_t i = 0; rc == 0 && !from.failed && i < head.ends; i++) {
		struct part_end end;

		if (part_end_unpack(&end, &from) == 0)
			rc = add_end(outcome, &end, rank, err);
	}
	if (rc == 0 && (from.failed || from.left))
		rc = error_set(err, -EPROTO, "the results of host '%s' cannot be read", outcome->plan->host[rank].name);
	if (rc == 0)
		outcome->head[rank] = head;
	return rc;
}

/* A stage is done: what the ranks' clocks were in it. */
static int keep_clocks(struct outcome *outcome, struct outcome_stage *stage, struct error *err)
{
	const uint32_t hosts = outcome->plan->hosts;

	stage->clock = calloc(hosts, sizeof(*stage->clock));
	if (!stage->clock)
		return error_set(err, -ENOMEM, "no memory for the clocks of %u hosts", hosts);
	memcpy(stage->clock, outcome->clock, hosts * sizeof(*stage->clock));
	return 0;
}

int outcome_add_clocks(struct outcome *outcome, const struct buf *clocks, struct error *err)
{
	struct outcome_stage *const stage = &outcome->stage[outcome->done];
	struct cursor from;

	cursor_init(&from, clocks->data, clocks->len);
	for (uint32_t i = 0; i < outcome->plan->hosts; i++)
		part_clock_unpack(&outcome->clock[i], &from);
	part_closure_unpack(&outcome->closure, &from);
	if (from.failed || from.left || outcome->done >= plan_stages(outcome->plan))
		return error_set(err, -EPROTO, "the clocks of the ranks cannot be read");
	for (uint32_t i = 0; i < outcome->plan->hosts; i++)
		stage->interrupted |= outcome->head[i].interrupted;
	outcome->told = outcome->ends;
	outcome->done++;
	return keep_clocks(outcome, stage, err);
}

static int by_key(const void *a, const void *b)
{
	const struct outcome_end *x = a, *y = b;

	if (x->point != y->point)
		return x->point < y->point ? -1 : 1;
	if (x->test != y->test)
		return x->test < y->test ? -1 : 1;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->active - y->active;
}

static const struct outcome_end *find(const struct outcome *outcome, const struct connection *c, unsigned point,
				      bool active)
{
	const struct outcome_end wanted = { .point = point, .test = c->test, .key = c->key, .active = active };
	const uint32_t endpoint = active ? c->from : c->to;
	const struct outcome_end *end =
		outcome->ends ? bsearch(&wanted, outcome->end, outcome->ends, sizeof(wanted), by_key) : NULL;

	return end && end->rank == outcome->plan->endpoint[endpoint].host ? end : NULL;
}

/* Both ends of each connection of a stage that is done, at one point; adds how many there are. */
static int check_point(const struct outcome *outcome, unsigned point, uint64_t *ends, struct error *err)
{
	struct plan_cursor cursor;
	struct connection c;

	plan_begin(&cursor, outcome->plan, PLAN_ALL_HOSTS);
	while (plan_next(&cursor, &c)) {
		char label[PLAN_LABEL];

		if (!outcome_ran(outcome, &c, point))
			continue;
		*ends += 2;
		if (!find(outcome, &c, point, true) || !find(outcome, &c, point, false))
			return error_set(err, -EPROTO, "a connection from %s has no result",
					 plan_label(outcome->plan, c.from, label));
	}
	return 0;
}

int outcome_complete(struct outcome *outcome, struct error *err)
{
	uint64_t ends = 0;
	int rc = outcome->done ? 0 : error_set(err, -EPROTO, "no results came from the ranks");

	outcome->ends = outcome->told; /* a stage that ended early is not looked at */
	if (outcome->ends)
		qsort(outcome->end, outcome->ends, sizeof(*outcome->end), by_key);
	for (unsigned point = 0; rc == 0 && point < plan_points(outcome->plan); point++)
		rc = check_point(outcome, point, &ends, err);
	if (rc == 0 && outcome->ends != ends)
		rc = error_set(err, -EPROTO, "%u ends of %llu connections have results", outcome->ends,
			       (unsigned long long)ends / 2);
	outcome->measured = rc == 0 && outcome->done;
	return rc;
}

/* The offset as the window began, and what it gained until its end. */
static void set_clock(const struct part_clock *clock, struct rank_result *ret)
{
	int64_t begin = INT64_MAX, end = INT64_MIN;

	ret->clock_offset_ns = clock->offset_ns[0];
	ret->clock_error_ns = clock->error_ns[0];
	for (uint32_t i = 0; i < ret->workers; i++) {
		const struct worker_result *worker = &ret->worker[i];

		if (!worker_has_window(worker))
			continue;
		begin = worker->begin_ns < begin ? worker->begin_ns : begin;
		end = worker->end_ns > end ? worker->end_ns : end;
	}
	if (end < begin)
		return;
	ret->clock_offset_ns = part_clock_at(clock, begin);
	ret->clock_gain_ns = part_clock_at(clock, end) - ret->clock_offset_ns;
}

static int unpack(const struct outcome *outcome, const struct outcome_end *end, struct rank_result *ret,
		  struct error *err)
{
	struct cursor from = end->result;

	if (rank_result_unpack(ret, &from) < 0 || ret->active != end->active)
		return error_set(err, -EPROTO, "a result of host '%s' cannot be read",
				 outcome->plan->host[end->rank].name);
	set_clock(&outcome->stage[end->stage].clock[end->rank], ret);
	return 0;
}

/* An end that failed is the connection's failure. */
static void judge(struct result *result)
{
	for (uint32_t i = 0; i < result->ranks; i++) {
		const struct error *error = &result->rank[i].error;

		if (!error->code || result->error.code)
			continue;
		result->status = RUN_FAILED;
		result->error = *error;
		error_prefix(&result->error, "host '%s'", result->rank[i].host);
	}
}

/* It has not run: who it was, and why. */
static void leave_out(const struct outcome *outcome, const struct connection *connection, struct result *ret)
{
	const struct plan *plan = outcome->plan;

	for (unsigned i = 0; i < 2; i++)
		snprintf(ret->rank[i].host, sizeof(ret->rank[i].host), "%s",
			 plan->host[plan->endpoint[i ? connection->to : connection->from].host].name);
	ret->status =
		outcome->status == RUN_FAILED || outcome->status == RUN_INTERRUPTED ? outcome->status : RUN_FAILED;
	ret->error = outcome->error;
}

int outcome_result(const struct outcome *outcome, const struct connection *connection, unsigned point,
		   struct result *ret, struct error *err)
{
	const struct plan *plan = outcome->plan;
	int rc = 0;

	result_init(ret, &outcome->request, 2);
	if (ret->ranks != 2)
		return error_set(err, -ENOMEM, "no memory for a connection's result");
	plan_spec(plan, connection, true, point, &ret->request.spec);
	ret->request.host = plan->host[plan->endpoint[connection->to].host].name;
	ret->started_unix_ns = outcome->started_unix_ns;
	ret->setup_seconds = outcome->setup_seconds;
	ret->status = outcome->status == RUN_INTERRUPTED ? RUN_INTERRUPTED : RUN_OK;
	ret->measured = outcome->measured && outcome_ran(outcome, connection, point);
	if (!ret->measured) {
		leave_out(outcome, connection, ret);
		return 0;
	}
	for (unsigned i = 0; rc == 0 && i < 2; i++)
		rc = unpack(outcome, find(outcome, connection, point, i == 0), &ret->rank[i], err);
	if (rc < 0)
		return rc;
	result_join_windows(ret);
	judge(ret);
	return 0;
}
