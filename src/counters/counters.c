/* Reads the counters of all NICs of a test twice, and puts the two readings together. */
#include "counters/counters.h"

#include "base/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIFESPAN_MAX_MS 1000

void nics_add(struct nics *nics, const struct nic *nic)
{
	for (unsigned i = 0; i < nics->count; i++) {
		const struct nic *old = &nics->nic[i];

		if (!strcmp(old->device, nic->device) && old->port == nic->port &&
		    !strcmp(old->interface, nic->interface) && old->sockets == nic->sockets)
			return;
	}
	if (nics->count < COUNTERS_NICS && (nic->device[0] || nic->interface[0] || nic->sockets))
		nics->nic[nics->count++] = *nic;
}

void reading_add(struct reading *reading, const char *source, const char *name, uint64_t value)
{
	struct port_counters *counters = &reading->counters;
	struct port_counter *counter;

	if (counters->count == COUNTERS_MAX)
		return;
	if (counters->count == reading->cap) {
		const uint32_t cap = reading->cap ? 2 * reading->cap : 64;

		counter = realloc(counters->counter, cap * sizeof(*counter));
		if (!counter)
			return;
		counters->counter = counter;
		reading->cap = cap;
	}
	counter = &counters->counter[counters->count++];
	*counter = (struct port_counter){ .before = value, .after = value };
	snprintf(counter->source, sizeof(counter->source), "%s", source);
	snprintf(counter->name, sizeof(counter->name), "%s", name);
}

/* Interfaces of which a reading is wanted, each once. */
struct interfaces {
	unsigned count;
	char name[COUNTERS_NICS][NIC_NAME];
};

static void add_interface(void *context, const char *interface)
{
	struct interfaces *all = context;

	for (unsigned i = 0; i < all->count; i++)
		if (!strcmp(all->name[i], interface))
			return;
	if (all->count < COUNTERS_NICS && *interface)
		snprintf(all->name[all->count++], NIC_NAME, "%s", interface);
}

static void read_all(const char *sysfs, const struct nics *nics, struct reading *ret)
{
	struct interfaces interfaces = { 0 };
	bool sockets = false;

	for (unsigned i = 0; i < nics->count; i++) {
		const struct nic *nic = &nics->nic[i];

		add_interface(&interfaces, nic->interface);
		sockets |= nic->sockets;
		if (!nic->device[0])
			continue;
		read_device(sysfs, nic, ret);
		sysfs_interfaces(sysfs, nic, add_interface, &interfaces);
	}
	for (unsigned i = 0; i < interfaces.count; i++) {
		read_interface(sysfs, interfaces.name[i], ret);
		read_ethtool(sysfs, interfaces.name[i], ret);
	}
	if (sockets)
		read_kernel(sysfs, ret);
}

void counters_before(const char *sysfs, const struct nics *nics, struct port_counters *ret)
{
	struct reading reading = { 0 };

	read_all(sysfs, nics, &reading);
	*ret = reading.counters;
}

/* Nothing tells when the copy is old enough: the wait is for the clock alone. */
static void settle(const char *sysfs, const struct nics *nics, const struct clock *clock)
{
	struct patience patience = { .clock = clock };
	uint64_t longest = 0;

	for (unsigned i = 0; i < nics->count; i++) {
		const uint64_t ms = nics->nic[i].device[0] ? sysfs_lifespan_ms(sysfs, &nics->nic[i]) : 0;

		longest = ms > longest ? ms : longest;
	}
	longest = longest < LIFESPAN_MAX_MS ? longest : LIFESPAN_MAX_MS;
	patience.deadline_ns = clock_now(clock) + (int64_t)longest * 2000000;
	if (longest)
		(void)wait_fd(-1, 0, &patience);
}

static bool same(const struct port_counter *a, const struct port_counter *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->source, b->source);
}

/* Both readings come in the same order but for what appeared or went. */
static const struct port_counter *find(const struct port_counters *in, const struct port_counter *wanted, uint32_t *at)
{
	for (uint32_t i = 0; i < in->count; i++) {
		const uint32_t place = (*at + i) % in->count;

		if (!same(&in->counter[place], wanted))
			continue;
		*at = place + 1;
		return &in->counter[place];
	}
	return NULL;
}

void counters_after(const char *sysfs, const struct nics *nics, const struct clock *clock, struct port_counters *ret)
{
	struct reading reading = { 0 };
	uint32_t kept = 0, at = 0;

	settle(sysfs, nics, clock);
	read_all(sysfs, nics, &reading);
	for (uint32_t i = 0; i < ret->count; i++) {
		const struct port_counter *now = find(&reading.counters, &ret->counter[i], &at);

		if (!now)
			continue;
		ret->counter[kept] = ret->counter[i];
		ret->counter[kept++].after = now->before;
	}
	ret->count = kept;
	port_counters_release(&reading.counters);
}
