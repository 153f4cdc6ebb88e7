/* Puts the results of connections together from the parts of the ranks. */
#include "plan/outcome.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int outcome_init(struct outcome *ret, const struct request *request, const struct plan *plan, struct error *err)
{
	*ret = (struct outcome){ .plan = plan, .request = *request };
	ret->part = calloc(plan->hosts, sizeof(*ret->part));
	ret->head = calloc(plan->hosts, sizeof(*ret->head));
	ret->clock = calloc(plan->hosts, sizeof(*ret->clock));
	ret->figure = calloc(plan->connections, sizeof(*ret->figure));
	ret->test = calloc(plan->tests, sizeof(*ret->test));
	return ret->part && ret->head && ret->clock && ret->figure && ret->test
		       ? 0
		       : error_set(err, -ENOMEM, "no memory for the results of %u hosts", plan->hosts);
}

void outcome_release(struct outcome *outcome)
{
	for (uint32_t i = 0; outcome->part && i < outcome->plan->hosts; i++)
		buf_release(&outcome->part[i]);
	free(outcome->part);
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
	outcome->end[outcome->ends++] = (struct outcome_end){
		.test = end->test, .rank = rank, .key = end->key, .active = end->active, .result = end->result
	};
	return 0;
}

int outcome_add(struct outcome *outcome, uint32_t rank, struct buf *part, struct error *err)
{
	struct part_head head = { 0 };
	struct cursor from;
	int rc = 0;

	if (rank >= outcome->plan->hosts || outcome->part[rank].data)
		return error_set(err, -EPROTO, "results came of rank %u of %u", rank, outcome->plan->hosts);
	outcome->part[rank] = *part;
	*part = (struct buf)BUF_INIT;
	cursor_init(&from, outcome->part[rank].data, outcome->part[rank].len);
	part_head_unpack(&head, &from);
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

int outcome_add_clocks(struct outcome *outcome, const struct buf *clocks, struct error *err)
{
	struct cursor from;

	cursor_init(&from, clocks->data, clocks->len);
	for (uint32_t i = 0; i < outcome->plan->hosts; i++)
		part_clock_unpack(&outcome->clock[i], &from);
	part_closure_unpack(&outcome->closure, &from);
	return from.failed || from.left ? error_set(err, -EPROTO, "the clocks of the ranks cannot be read") : 0;
}

static int by_key(const void *a, const void *b)
{
	const struct outcome_end *x = a, *y = b;

	if (x->test != y->test)
		return x->test < y->test ? -1 : 1;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->active - y->active;
}

static const struct outcome_end *find(const struct outcome *outcome, const struct connection *c, bool active)
{
	const struct outcome_end wanted = { .test = c->test, .key = c->key, .active = active };
	const uint32_t endpoint = active ? c->from : c->to;
	const struct outcome_end *end =
		outcome->ends ? bsearch(&wanted, outcome->end, outcome->ends, sizeof(wanted), by_key) : NULL;

	return end && end->rank == outcome->plan->endpoint[endpoint].host ? end : NULL;
}

int outcome_complete(struct outcome *outcome, struct error *err)
{
	struct plan_cursor cursor;
	struct connection c;

	if (outcome->ends)
		qsort(outcome->end, outcome->ends, sizeof(*outcome->end), by_key);
	if (outcome->ends != 2 * outcome->plan->connections)
		return error_set(err, -EPROTO, "%u ends of %llu connections have results", outcome->ends,
				 (unsigned long long)outcome->plan->connections);
	plan_begin(&cursor, outcome->plan, PLAN_ALL_HOSTS);
	while (plan_next(&cursor, &c)) {
		char label[PLAN_LABEL];

		if (!find(outcome, &c, true) || !find(outcome, &c, false))
			return error_set(err, -EPROTO, "a connection from %s has no result",
					 plan_label(outcome->plan, c.from, label));
	}
	outcome->measured = true;
	return 0;
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
	set_clock(&outcome->clock[end->rank], ret);
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

int outcome_result(const struct outcome *outcome, const struct connection *connection, struct result *ret,
		   struct error *err)
{
	int rc = 0;

	result_init(ret, &outcome->request, 2);
	if (ret->ranks != 2)
		return error_set(err, -ENOMEM, "no memory for a connection's result");
	plan_spec(outcome->plan, connection, true, 0, &ret->request.spec);
	ret->started_unix_ns = outcome->started_unix_ns;
	ret->setup_seconds = outcome->setup_seconds;
	ret->status = outcome->status == RUN_INTERRUPTED ? RUN_INTERRUPTED : RUN_OK;
	ret->measured = outcome->measured;
	for (unsigned i = 0; rc == 0 && ret->measured && i < 2; i++)
		rc = unpack(outcome, find(outcome, connection, i == 0), &ret->rank[i], err);
	if (rc < 0)
		return rc;
	ret->request.host = outcome->plan->host[outcome->plan->endpoint[connection->to].host].name;
	if (!ret->measured) {
		for (unsigned i = 0; i < 2; i++)
			snprintf(
				ret->rank[i].host, sizeof(ret->rank[i].host), "%s",
				outcome->plan->host[outcome->plan->endpoint[i ? connection->to : connection->from].host]
					.name);
		ret->status = outcome->status == RUN_OK ? RUN_FAILED : outcome->status;
		ret->error = outcome->error;
		return 0;
	}
	result_join_windows(ret);
	judge(ret);
	return 0;
}
