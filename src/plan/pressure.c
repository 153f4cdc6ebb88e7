/* Counts the connections into and out of each port: by arithmetic where a pattern makes all alike, else one by one. */
#include "plan/pressure.h"

#include "base/error.h"
#include "plan/lookup.h"

#include <errno.h>
#include <stdlib.h>

struct ports {
	const struct plan *plan;
	uint32_t *port; /* of each endpoint: the first endpoint with its host and device */
	uint32_t *in, *out; /* of each port */
};

static bool has_gpus(const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->endpoints; i++)
		if (plan->endpoint[i].gpu != PLAN_NO_GPU)
			return true;
	return false;
}

/* Endpoints of an all-to-all are there once, so each port has one when none has a GPU. */
static bool is_uniform(const struct plan *plan)
{
	const struct plan_test *const test = &plan->test[0];

	return plan->tests == 1 && test->pattern == PATTERN_ALL_TO_ALL && !test->partition && !test->bytes &&
	       !test->peer_shifting && !has_gpus(plan);
}

struct wanted {
	const struct plan *plan;
	uint32_t index;
};

static bool same_port(const void *context, uint32_t index)
{
	const struct wanted *const wanted = context;
	const struct endpoint *const a = &wanted->plan->endpoint[wanted->index];
	const struct endpoint *const b = &wanted->plan->endpoint[index];

	return a->host == b->host && a->device == b->device;
}

static int find_ports(struct ports *ports, struct error *err)
{
	const struct plan *const plan = ports->plan;
	struct lookup known = { 0 };
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < plan->endpoints; i++) {
		const uint32_t place[] = { plan->endpoint[i].host, plan->endpoint[i].device };
		const struct wanted wanted = { plan, i };
		const uint64_t hash = lookup_hash(place, sizeof(place));
		const uint32_t found = lookup_find(&known, hash, same_port, &wanted);

		ports->port[i] = found == LOOKUP_NONE ? i : found;
		if (found == LOOKUP_NONE)
			rc = lookup_add(&known, hash, i, err);
	}
	lookup_release(&known);
	return rc;
}

/* Rounds run one after another: the first stands for all. */
static void count(struct ports *ports, struct pressure *ret)
{
	struct plan_cursor cursor;
	struct connection one;

	plan_begin(&cursor, ports->plan, PLAN_ALL_HOSTS);
	while (plan_next(&cursor, &one) && one.round < 2) {
		if (!spec_bursts(&ports->plan->test[one.test].sweep.spec[0]))
			continue;
		ports->out[ports->port[one.from]]++;
		ports->in[ports->port[one.to]]++;
		ret->steps++;
	}
	for (uint32_t i = 0; i < ports->plan->endpoints; i++)
		if (ports->in[i] > ret->senders)
			ret->senders = ports->in[i];
	for (uint32_t i = 0; i < ports->plan->endpoints; i++) {
		ret->ports += ports->in[i] == ret->senders;
		ret->sent = ports->out[i] > ret->sent ? ports->out[i] : ret->sent;
	}
}

int plan_pressure(const struct plan *plan, struct pressure *ret, struct error *err)
{
	struct ports ports = { .plan = plan };
	int rc;

	*ret = (struct pressure){ 0 };
	if (is_uniform(plan)) {
		ret->senders = ret->sent = plan->test[0].positions - 1;
		ret->ports = plan->test[0].positions;
		return 0;
	}
	ports.port = calloc(plan->endpoints, sizeof(*ports.port));
	ports.in = calloc(plan->endpoints, sizeof(*ports.in));
	ports.out = calloc(plan->endpoints, sizeof(*ports.out));
	rc = ports.port && ports.in && ports.out ? find_ports(&ports, err)
						 : error_set(err, -ENOMEM, "no memory for %u ports", plan->endpoints);
	if (rc == 0)
		count(&ports, ret);
	free(ports.port);
	free(ports.in);
	free(ports.out);
	return rc;
}
