/* Expands the nodes of a test into endpoints: hosts times devices, each device with its GPU. */
#include "base/error.h"
#include "base/units.h"
#include "plan/lookup.h"
#include "plan/names.h"
#include "plan/nodes.h"
#include "plan/parts.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_GPU 255

/* A plan while tests are added to it: where to find what it has. */
struct plan_maker {
	struct plan *plan;
	struct lookup hosts, devices, endpoints;
	uint32_t host_cap, device_cap, endpoint_cap;
};

int plan_maker_open(struct plan_maker **ret, struct plan *plan, struct error *err)
{
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return error_set(err, -ENOMEM, "no memory for a plan");
	(*ret)->plan = plan;
	return 0;
}

void plan_maker_close(struct plan_maker *maker)
{
	if (!maker)
		return;
	lookup_release(&maker->hosts);
	lookup_release(&maker->devices);
	lookup_release(&maker->endpoints);
	free(maker);
}

/* Room for one more in an array of count things; *cap grows. */
static int make_room(void **array, uint32_t count, uint32_t *cap, size_t size, struct error *err)
{
	const uint32_t bigger = *cap ? 2 * *cap : 16;
	void *moved;

	if (count < *cap)
		return 0;
	moved = reallocarray(*array, bigger, size);
	if (!moved)
		return error_set(err, -ENOMEM, "no memory for %u endpoints", bigger);
	*array = moved;
	*cap = bigger;
	return 0;
}

/* --- what there is once --- */

struct wanted_name {
	const struct plan *plan;
	const char *name;
};

static bool same_host(const void *context, uint32_t index)
{
	const struct wanted_name *wanted = context;

	return !strcmp(wanted->plan->host[index].name, wanted->name);
}

static bool same_device(const void *context, uint32_t index)
{
	const struct wanted_name *wanted = context;

	return !strcmp(wanted->plan->device[index], wanted->name);
}

static int find_host(struct plan_maker *maker, const char *name, uint32_t *ret, struct error *err)
{
	struct plan *const plan = maker->plan;
	const struct wanted_name wanted = { .plan = plan, .name = name };
	const uint64_t hash = lookup_hash(name, strlen(name));
	int rc;

	*ret = lookup_find(&maker->hosts, hash, same_host, &wanted);
	if (*ret != LOOKUP_NONE)
		return 0;
	rc = make_room((void **)&plan->host, plan->hosts, &maker->host_cap, sizeof(*plan->host), err);
	if (rc)
		return rc;
	plan->host[plan->hosts] = (struct plan_host){ .name = strdup(name) };
	if (!plan->host[plan->hosts].name)
		return error_set(err, -ENOMEM, "no memory for %u hosts", plan->hosts);
	*ret = plan->hosts++;
	return lookup_add(&maker->hosts, hash, *ret, err);
}

static int find_device(struct plan_maker *maker, const char *name, uint32_t *ret, struct error *err)
{
	struct plan *const plan = maker->plan;
	const struct wanted_name wanted = { .plan = plan, .name = name };
	const uint64_t hash = lookup_hash(name, strlen(name));
	int rc;

	*ret = lookup_find(&maker->devices, hash, same_device, &wanted);
	if (*ret != LOOKUP_NONE)
		return 0;
	rc = make_room((void **)&plan->device, plan->devices, &maker->device_cap, sizeof(*plan->device), err);
	if (rc)
		return rc;
	plan->device[plan->devices] = strdup(name);
	if (!plan->device[plan->devices])
		return error_set(err, -ENOMEM, "no memory for %u devices", plan->devices);
	*ret = plan->devices++;
	return lookup_add(&maker->devices, hash, *ret, err);
}

struct wanted_endpoint {
	const struct plan *plan;
	struct endpoint endpoint;
};

static bool same_endpoint(const void *context, uint32_t index)
{
	const struct wanted_endpoint *wanted = context;

	return !memcmp(&wanted->plan->endpoint[index], &wanted->endpoint, sizeof(wanted->endpoint));
}

static int find_endpoint(struct plan_maker *maker, const struct endpoint *endpoint, uint32_t *ret, struct error *err)
{
	struct plan *const plan = maker->plan;
	const struct wanted_endpoint wanted = { .plan = plan, .endpoint = *endpoint };
	const uint64_t hash = lookup_hash(endpoint, sizeof(*endpoint));
	int rc;

	*ret = lookup_find(&maker->endpoints, hash, same_endpoint, &wanted);
	if (*ret != LOOKUP_NONE)
		return 0;
	rc = make_room((void **)&plan->endpoint, plan->endpoints, &maker->endpoint_cap, sizeof(*endpoint), err);
	if (rc)
		return rc;
	*ret = plan->endpoints++;
	plan->endpoint[*ret] = *endpoint;
	plan->host[endpoint->host].endpoints++;
	return lookup_add(&maker->endpoints, hash, *ret, err);
}

/* --- from a node to positions --- */

/* A node whose lists are expanded. */
struct expanded {
	struct names hosts, devices, gpus;
};

static void expanded_release(struct expanded *expanded)
{
	names_release(&expanded->hosts);
	names_release(&expanded->devices);
	names_release(&expanded->gpus);
}

/* Names that are handed to ssh and mpirun: nothing that these would take for something else. */
static int check_hosts(const struct names *hosts, struct error *err)
{
	for (uint32_t i = 0; i < hosts->count; i++) {
		const char *const name = hosts->name[i];

		if (name[0] == '-')
			return error_set(err, -EINVAL, "the host '%.80s' must not begin with '-'", name);
		for (const char *at = name; *at; at++)
			if (isspace((unsigned char)*at) || iscntrl((unsigned char)*at) ||
			    strchr(",;'\"\\`$&|<>()*?", *at))
				return error_set(err, -EINVAL, "the host '%.80s' has a '%c', which no host name has",
						 name, isprint((unsigned char)*at) ? *at : '?');
	}
	return 0;
}

static int check_devices(const struct names *devices, struct error *err)
{
	for (uint32_t i = 0; i < devices->count; i++)
		if (strlen(devices->name[i]) >= SPEC_NAME)
			return error_set(err, -EINVAL, "the device '%.80s' has more than %d bytes", devices->name[i],
					 SPEC_NAME - 1);
	return 0;
}

static int expand_node(const struct scenario_node *node, struct expanded *ret, struct error *err)
{
	int rc = names_expand(&ret->hosts, node->hosts, err);

	if (rc == 0)
		rc = check_hosts(&ret->hosts, err);
	if (rc == 0)
		rc = node->devices ? names_expand(&ret->devices, node->devices, err)
				   : names_add(&ret->devices, "", err);
	if (rc == 0)
		rc = check_devices(&ret->devices, err);
	if (rc == 0 && node->gpus)
		rc = names_expand(&ret->gpus, node->gpus, err);
	if (rc || ret->gpus.count <= 1 || ret->gpus.count == ret->devices.count)
		return rc;
	return error_set(err, -EINVAL,
			 "%u GPUs for %u device%s: the lists are paired in order, so give one for each device, or one "
			 "for all",
			 ret->gpus.count, ret->devices.count, ret->devices.count == 1 ? "" : "s");
}

static int gpu_number(const char *text, uint32_t *ret, struct error *err)
{
	uint64_t gpu;

	if (units_parse_int(text, &gpu, NULL) || gpu > MAX_GPU)
		return error_set(err, -EINVAL, "the GPU '%.80s' is no number from 0 to %d", text, MAX_GPU);
	*ret = (uint32_t)gpu;
	return 0;
}

/* The GPU that goes with a device: the one at its place, or the only one. */
static int gpu_of(const struct names *gpus, uint32_t device, uint32_t *ret, struct error *err)
{
	*ret = PLAN_NO_GPU;
	return gpus->count ? gpu_number(gpus->name[gpus->count == 1 ? 0 : device], ret, err) : 0;
}

/* --- checks where the lists stand in a file --- */

static int check_list(const char *list, int (*check)(const struct names *names, struct error *err), struct error *err)
{
	struct names names = { 0 };
	int rc = names_expand(&names, list, err);

	if (rc == 0)
		rc = check(&names, err);
	names_release(&names);
	return rc;
}

static int check_gpus(const struct names *gpus, struct error *err)
{
	uint32_t gpu;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < gpus->count; i++)
		rc = gpu_number(gpus->name[i], &gpu, err);
	return rc;
}

int scenario_check_hosts(const char *list, struct error *err)
{
	return check_list(list, check_hosts, err);
}

int scenario_check_devices(const char *list, struct error *err)
{
	return check_list(list, check_devices, err);
}

int scenario_check_gpus(const char *list, struct error *err)
{
	return check_list(list, check_gpus, err);
}

int scenario_check_node(const struct scenario_node *node, struct error *err)
{
	struct expanded expanded = { 0 };
	const int rc = expand_node(node, &expanded, err);

	expanded_release(&expanded);
	return rc;
}

/* --- positions --- */

static int add_position(struct plan_test *test, uint32_t endpoint, uint32_t *cap, struct error *err)
{
	int rc;

	if (test->positions == PLAN_MAX_ENDPOINTS)
		return error_set(err, -E2BIG, "a test has at most %d endpoints (hosts times devices)",
				 PLAN_MAX_ENDPOINTS);
	rc = make_room((void **)&test->endpoint, test->positions, cap, sizeof(*test->endpoint), err);
	if (rc == 0)
		test->endpoint[test->positions++] = endpoint;
	return rc;
}

static int add_host(struct plan_maker *maker, struct plan_test *test, const struct expanded *node, const char *host,
		    uint32_t *cap, struct error *err)
{
	struct endpoint endpoint = { 0 };
	int rc = find_host(maker, host, &endpoint.host, err);

	for (uint32_t i = 0; rc == 0 && i < node->devices.count; i++) {
		uint32_t index = 0;

		rc = find_device(maker, node->devices.name[i], &endpoint.device, err);
		if (rc == 0)
			rc = gpu_of(&node->gpus, i, &endpoint.gpu, err);
		if (rc == 0)
			rc = find_endpoint(maker, &endpoint, &index, err);
		if (rc == 0)
			rc = add_position(test, index, cap, err);
	}
	return rc;
}

int plan_maker_add(struct plan_maker *maker, struct plan_test *test, const struct scenario_test *from,
		   struct error *err)
{
	uint32_t cap = 0;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < from->nodes; i++) {
		struct expanded node = { 0 };

		rc = expand_node(&from->node[i], &node, err);
		for (uint32_t h = 0; rc == 0 && h < node.hosts.count; h++)
			rc = add_host(maker, test, &node, node.hosts.name[h], &cap, err);
		expanded_release(&node);
	}
	return rc;
}
