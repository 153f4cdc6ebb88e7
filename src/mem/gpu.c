/* Tells how far a GPU is from an RDMA device by the tree of PCIe devices in sysfs, and which GPU to take. */
#include "mem/gpu.h"

#include "base/topo.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 32 /* bridges above a device, and itself */

/* Where a device stands: its host bridge, root port, switch ports, itself. */
struct place {
	char path[PATH_MAX];
	const char *part[DEPTH];
	unsigned parts;
	int node; /* NUMA; -1 unknown */
};

const char *gpu_distance_name(enum gpu_distance distance)
{
	static const char *const names[] = { "NV", "PIX", "PXB", "PHB", "NODE", "SYS", "unknown" };

	return names[distance];
}

/* Cuts the path behind a link of sysfs into the devices from the host bridge on; false when it is not on PCIe. */
static bool find(const char *link, struct place *ret)
{
	char *save = NULL;

	ret->parts = 0;
	if (!realpath(link, ret->path))
		return false;
	ret->node = topo_read_node(ret->path);
	for (char *part = strtok_r(ret->path, "/", &save); part; part = strtok_r(NULL, "/", &save)) {
		if (!ret->parts && (strncmp(part, "pci", 3) != 0 || !strchr(part, ':')))
			continue;
		if (ret->parts == DEPTH)
			return false;
		ret->part[ret->parts++] = part;
	}
	return ret->parts > 1;
}

static unsigned shared(const struct place *a, const struct place *b)
{
	unsigned n = 0;

	while (n < a->parts && n < b->parts && strcmp(a->part[n], b->part[n]) == 0)
		n++;
	return n;
}

/* Below what they share a switch has two steps, its own port and the device; functions of one device have one. */
static enum gpu_distance classify(const struct place *a, const struct place *b)
{
	const unsigned n = shared(a, b), longer = a->parts > b->parts ? a->parts : b->parts;

	if (n > 1)
		return longer - n <= 2 ? GPU_PIX : GPU_PXB;
	if (n == 1)
		return GPU_PHB;
	return a->node == b->node ? GPU_NODE : GPU_SYS;
}

enum gpu_distance gpu_distance(const char *sysfs, const char *nic, const char *pci)
{
	char link[PATH_MAX];
	struct place a, b;

	if (!nic)
		return GPU_UNKNOWN;
	snprintf(link, sizeof(link), "%s/class/infiniband/%s/device", sysfs, nic);
	if (!find(link, &a))
		return GPU_UNKNOWN;
	snprintf(link, sizeof(link), "%s/bus/pci/devices/%s", sysfs, pci);
	return find(link, &b) ? classify(&a, &b) : GPU_UNKNOWN;
}

unsigned gpu_pick(const enum gpu_distance *distance, unsigned count, unsigned nth)
{
	unsigned nearest = 0, equals = 0, wanted;

	for (unsigned i = 1; i < count; i++)
		if (distance[i] < distance[nearest])
			nearest = i;
	for (unsigned i = 0; i < count; i++)
		equals += distance[i] == distance[nearest];
	wanted = equals ? nth % equals : 0; /* each has had as many workers as the others, or is next */
	for (unsigned i = nearest; i < count; i++)
		if (distance[i] == distance[nearest] && wanted-- == 0)
			return i;
	return nearest;
}
