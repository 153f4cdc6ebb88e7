/* Streams the connections of a plan: few of them from a list, those of ALL_TO_ALL by arithmetic. */
#include "base/error.h"
#include "plan/lookup.h"
#include "plan/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct endpoint *endpoint_at(const struct plan *plan, const struct plan_test *test, uint32_t position)
{
	return &plan->endpoint[test->endpoint[position]];
}

/* --- partition --- */

static bool is_kept(enum partition partition, const struct endpoint *a, const struct endpoint *b)
{
	switch (partition) {
	case PARTITION_RAILED:
		return a->host != b->host && a->device == b->device;
	case PARTITION_LOCAL:
		return a->host == b->host;
	case PARTITION_REMOTE:
		return a->host != b->host;
	case PARTITION_NONE:
		break;
	}
	return true;
}

/* Whether the pattern's pair of positions becomes a connection. */
static bool is_connection(const struct plan *plan, const struct plan_test *test, uint32_t from, uint32_t to)
{
	return test->endpoint[from] != test->endpoint[to] && (!test->bytes || plan_size(test, from, to)) &&
	       is_kept(test->partition, endpoint_at(plan, test, from), endpoint_at(plan, test, to));
}

/* --- few connections: a list, without those that are there already --- */

struct wanted_pair {
	const struct plan_test *test;
	uint32_t from, to; /* endpoints */
};

static bool same_pair(const void *context, uint32_t index)
{
	const struct wanted_pair *wanted = context;
	const uint32_t from = wanted->test->endpoint[wanted->test->pair[index].from];
	const uint32_t to = wanted->test->endpoint[wanted->test->pair[index].to];

	if (from == wanted->from && to == wanted->to)
		return true;
	return wanted->test->direction == DIRECTION_BIDIR && from == wanted->to && to == wanted->from;
}

/* With BIDIR both orders of a pair are one connection. */
static uint64_t hash_pair(const struct plan_test *test, const struct wanted_pair *wanted)
{
	const bool swap = test->direction == DIRECTION_BIDIR && wanted->from > wanted->to;
	const uint32_t ends[] = { swap ? wanted->to : wanted->from, swap ? wanted->from : wanted->to };

	return lookup_hash(ends, sizeof(ends));
}

static int add_pair(const struct plan *plan, struct plan_test *test, struct lookup *known, uint32_t from, uint32_t to,
		    struct error *err)
{
	const struct wanted_pair wanted = { test, test->endpoint[from], test->endpoint[to] };
	const uint64_t hash = hash_pair(test, &wanted);

	if (!is_connection(plan, test, from, to) || lookup_find(known, hash, same_pair, &wanted) != LOOKUP_NONE)
		return 0;
	test->pair[test->pairs] = (struct plan_pair){ .from = from, .to = to };
	return lookup_add(known, hash, test->pairs++, err);
}

static int list_pairs(const struct plan *plan, struct plan_test *test, struct error *err)
{
	const uint64_t count = pattern_count(test->pattern, test->positions);
	struct lookup known = { 0 };
	int rc = 0;

	test->pair = calloc(2 * count, sizeof(*test->pair));
	if (!test->pair)
		return error_set(err, -ENOMEM, "no memory for %u connections", (unsigned)count);
	for (uint64_t k = 0; rc == 0 && k < count; k++) {
		uint32_t from, to;

		pattern_pair(test->pattern, test->positions, k, &from, &to);
		rc = add_pair(plan, test, &known, from, to, err);
		if (rc == 0 && test->direction == DIRECTION_DUAL_UNIDIR)
			rc = add_pair(plan, test, &known, to, from, err);
	}
	lookup_release(&known);
	test->connections = test->pairs;
	return rc;
}

/* --- ALL_TO_ALL: each endpoint once, sorted by host so that a host finds its own --- */

static int drop_repeated(const struct plan *plan, struct plan_test *test, struct error *err)
{
	bool *seen = calloc(plan->endpoints, sizeof(*seen));
	uint32_t left = 0;

	if (!seen)
		return error_set(err, -ENOMEM, "no memory for %u endpoints", plan->endpoints);
	for (uint32_t i = 0; i < test->positions; i++) {
		const uint32_t endpoint = test->endpoint[i];

		if (!seen[endpoint])
			test->endpoint[left++] = endpoint;
		seen[endpoint] = true;
	}
	test->positions = left;
	free(seen);
	return 0;
}

static int sort_by_host(const struct plan *plan, struct plan_test *test, struct error *err)
{
	test->by_host = calloc(test->positions, sizeof(*test->by_host));
	test->first = calloc(plan->hosts + 2, sizeof(*test->first));
	if (!test->by_host || !test->first)
		return error_set(err, -ENOMEM, "no memory for %u endpoints", test->positions);
	for (uint32_t i = 0; i < test->positions; i++)
		test->first[endpoint_at(plan, test, i)->host + 2]++;
	for (uint32_t h = 2; h < plan->hosts + 2; h++)
		test->first[h] += test->first[h - 1];
	for (uint32_t i = 0; i < test->positions; i++) /* moves first[h + 1] from the begin of h to its end */
		test->by_host[test->first[endpoint_at(plan, test, i)->host + 1]++] = i;
	return 0;
}

static uint32_t own_count(const struct plan_cursor *cursor, const struct plan_test *test)
{
	return test->first[cursor->host + 1] - test->first[cursor->host];
}

static uint32_t own_position(const struct plan_cursor *cursor, const struct plan_test *test, uint64_t k)
{
	return test->by_host[test->first[cursor->host] + k];
}

static bool is_own(const struct plan_cursor *cursor, const struct plan_test *test, uint32_t position)
{
	return cursor->host == PLAN_ALL_HOSTS || endpoint_at(cursor->plan, test, position)->host == cursor->host;
}

/* Row by row; of a row that is not the host's own only the host's columns. */
static bool next_cell(struct plan_cursor *cursor, const struct plan_test *test, struct plan_pair *ret)
{
	for (; cursor->outer < test->positions; cursor->outer++, cursor->inner = 0) {
		const bool own = is_own(cursor, test, cursor->outer);
		const uint64_t k = cursor->inner;

		if (k == (own ? test->positions : own_count(cursor, test)))
			continue;
		cursor->inner++;
		*ret = (struct plan_pair){ cursor->outer, own ? (uint32_t)k : own_position(cursor, test, k) };
		return true;
	}
	return false;
}

/* Of a round, number k of a host's own: first as sender, then as receiver. */
static struct plan_pair own_of_round(const struct plan_cursor *cursor, const struct plan_test *test, uint32_t round)
{
	const uint32_t n = test->positions, own = own_count(cursor, test);
	uint32_t at;

	if (cursor->inner < own) {
		at = own_position(cursor, test, cursor->inner);
		return (struct plan_pair){ at, (at + round) % n };
	}
	at = own_position(cursor, test, cursor->inner - own);
	return (struct plan_pair){ (at + n - round) % n, at };
}

/* Round by round: in round p position i sends to i + p. */
static bool next_shifted(struct plan_cursor *cursor, const struct plan_test *test, struct plan_pair *ret)
{
	const uint32_t n = test->positions;

	for (; cursor->outer + 1 < n; cursor->outer++, cursor->inner = 0) {
		const uint32_t round = cursor->outer + 1;
		const bool all = cursor->host == PLAN_ALL_HOSTS;
		const uint32_t count = all ? n : 2 * own_count(cursor, test);

		while (cursor->inner < count) {
			const uint32_t i = (uint32_t)cursor->inner;
			const bool receives = !all && i >= count / 2;

			*ret = all ? (struct plan_pair){ i, (uint32_t)(((uint64_t)i + round) % n) }
				   : own_of_round(cursor, test, round);
			cursor->inner++;
			if (!receives || !is_own(cursor, test, ret->from)) /* else it was there as sender */
				return true;
		}
	}
	return false;
}

static bool next_of_mesh(struct plan_cursor *cursor, const struct plan_test *test, struct plan_pair *ret)
{
	while (test->peer_shifting ? next_shifted(cursor, test, ret) : next_cell(cursor, test, ret))
		if (is_connection(cursor->plan, test, ret->from, ret->to) &&
		    (test->direction != DIRECTION_BIDIR || ret->from < ret->to))
			return true;
	return false;
}

static bool next_of_list(struct plan_cursor *cursor, const struct plan_test *test, struct plan_pair *ret)
{
	while (cursor->inner < test->pairs) {
		*ret = test->pair[cursor->inner++];
		if (is_own(cursor, test, ret->from) || is_own(cursor, test, ret->to))
			return true;
	}
	return false;
}

/* --- the stream --- */

void plan_begin(struct plan_cursor *cursor, const struct plan *plan, uint32_t host)
{
	*cursor = (struct plan_cursor){ .plan = plan, .host = host };
}

static bool next_pair(struct plan_cursor *cursor, const struct plan_test *test, struct plan_pair *ret)
{
	return test->by_host ? next_of_mesh(cursor, test, ret) : next_of_list(cursor, test, ret);
}

bool plan_next(struct plan_cursor *cursor, struct connection *ret)
{
	for (; cursor->test < cursor->plan->tests; cursor->test++, cursor->outer = 0, cursor->inner = 0) {
		const struct plan_test *const test = &cursor->plan->test[cursor->test];
		const uint32_t n = test->positions;
		struct plan_pair pair;

		if (!next_pair(cursor, test, &pair))
			continue;
		*ret = (struct connection){
			.test = cursor->test,
			.from = test->endpoint[pair.from],
			.to = test->endpoint[pair.to],
			.both = test->direction == DIRECTION_BIDIR,
			.round = test->peer_shifting ? (pair.to + n - pair.from) % n : 0,
			.bytes = test->bytes ? plan_size(test, pair.from, pair.to) : 0,
			.key = (uint64_t)pair.from * n + pair.to,
		};
		return true;
	}
	return false;
}

static uint64_t count_mesh(const struct plan *plan, uint32_t test)
{
	struct plan_cursor cursor = { .plan = plan, .host = PLAN_ALL_HOSTS, .test = test };
	struct plan_pair pair;
	uint64_t count = 0;

	while (next_of_mesh(&cursor, &plan->test[test], &pair))
		count++;
	return count;
}

static uint32_t hosts_of(const struct plan *plan, const struct plan_test *test)
{
	bool *seen = calloc(plan->hosts, sizeof(*seen));
	uint32_t count = 0;

	for (uint32_t i = 0; seen && i < test->positions; i++) {
		const uint32_t host = endpoint_at(plan, test, i)->host;

		count += !seen[host];
		seen[host] = true;
	}
	free(seen);
	return count;
}

static int nothing_left(const struct plan *plan, const struct plan_test *test, struct error *err)
{
	static const char *const keeps[] = {
		"a test connects no endpoint with itself",
		"trafficPartition RAILED keeps connections between the same device of different hosts",
		"trafficPartition LOCAL keeps connections within a host",
		"trafficPartition REMOTE keeps connections between different hosts",
	};
	const uint32_t hosts = hosts_of(plan, test);

	return error_set(err, -EINVAL, "no connection is left of %s over %u endpoint%s on %u host%s: %s",
			 pattern_name(test->pattern), test->positions, test->positions == 1 ? "" : "s", hosts,
			 hosts == 1 ? "" : "s", keeps[test->partition]);
}

/* The ranks of a file of sizes are the endpoints, so none may be there twice. */
static int set_sizes(struct plan_test *test, uint32_t written, const struct ptini *sizes, struct error *err)
{
	if (!sizes->name)
		return 0;
	if (written != test->positions)
		return error_set(err, -EINVAL, "%.150s: an endpoint is there twice, but each is one rank of the file",
				 sizes->name);
	return plan_read_sizes(test, sizes, err);
}

int plan_connect(struct plan *plan, uint32_t index, const struct ptini *sizes, struct error *err)
{
	struct plan_test *const test = &plan->test[index];
	const bool mesh = test->pattern == PATTERN_ALL_TO_ALL;
	const uint32_t written = test->positions;
	int rc = mesh ? drop_repeated(plan, test, err) : 0;

	if (rc == 0)
		rc = pattern_suits(test->pattern, test->positions, err);
	if (rc)
		return rc;
	rc = set_sizes(test, written, sizes, err);
	if (rc == 0)
		rc = mesh ? sort_by_host(plan, test, err) : list_pairs(plan, test, err);
	if (rc)
		return rc;
	if (mesh)
		test->connections = count_mesh(plan, index);
	test->rounds = test->peer_shifting ? test->positions - 1 : 1;
	return test->connections ? 0 : nothing_left(plan, test, err);
}
