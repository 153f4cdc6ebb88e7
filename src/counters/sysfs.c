/* Counters that the kernel shows as a file each: of a port of an RDMA device, and of a network interface. */
#include "counters/counters.h"

#include "base/units.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* The first line of a file; false when there is none. */
static bool read_line(const char *path, char *ret, int size)
{
	FILE *file = fopen(path, "re");
	bool read;

	if (!file)
		return false;
	read = fgets(ret, size, file) != NULL;
	fclose(file);
	if (read)
		ret[strcspn(ret, "\n")] = '\0';
	return read;
}

static bool read_number(const char *path, uint64_t *ret)
{
	char line[32];

	return read_line(path, line, sizeof(line)) && units_parse_int(line, ret, NULL) == 0;
}

/* Names in a folder, sorted; the caller frees. 0 when there is no such folder. */
static int list(const char *folder, struct dirent ***ret)
{
	const int count = scandir(folder, ret, NULL, compare);

	return count < 0 ? 0 : count;
}

/* Each file of the folder that holds a number is a counter but those that say how they are kept. */
static void read_folder(const char *folder, const char *source, struct reading *ret)
{
	struct dirent **entry;
	const int count = list(folder, &entry);

	for (int i = 0; i < count; i++) {
		char path[PATH_MAX];
		uint64_t value;

		snprintf(path, sizeof(path), "%s/%s", folder, entry[i]->d_name);
		if (entry[i]->d_name[0] != '.' && strcmp(entry[i]->d_name, "lifespan") != 0 &&
		    read_number(path, &value))
			reading_add(ret, source, entry[i]->d_name, value);
		free(entry[i]);
	}
	if (count > 0)
		free(entry);
}

static void device_folder(const char *sysfs, const struct nic *nic, const char *name, char ret[PATH_MAX])
{
	snprintf(ret, PATH_MAX, "%s/class/infiniband/%s/ports/%u/%s", sysfs, nic->device, nic->port, name);
}

void read_device(const char *sysfs, const struct nic *nic, struct reading *ret)
{
	char folder[PATH_MAX], source[COUNTER_SOURCE];

	snprintf(source, sizeof(source), "%s port %u", nic->device, nic->port);
	device_folder(sysfs, nic, "counters", folder);
	read_folder(folder, source, ret);
	device_folder(sysfs, nic, "hw_counters", folder);
	read_folder(folder, source, ret);
}

void read_interface(const char *sysfs, const char *interface, struct reading *ret)
{
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s/class/net/%s/statistics", sysfs, interface);
	read_folder(folder, interface, ret);
}

uint64_t sysfs_lifespan_ms(const char *sysfs, const struct nic *nic)
{
	char path[PATH_MAX];
	uint64_t ms = 0;

	device_folder(sysfs, nic, "hw_counters/lifespan", path);
	return read_number(path, &ms) ? ms : 0;
}

/* Of a device with several ports each interface belongs to one: the kernel counts them from 0. */
static bool is_of_port(const char *sysfs, const struct nic *nic, const char *interface)
{
	char path[PATH_MAX];
	uint64_t port;

	snprintf(path, sizeof(path), "%s/class/net/%s/dev_port", sysfs, interface);
	return !read_number(path, &port) || port + 1 == nic->port;
}

void sysfs_interfaces(const char *sysfs, const struct nic *nic, void (*found)(void *context, const char *interface),
		      void *context)
{
	char path[PATH_MAX], parent[NIC_NAME];
	struct dirent **entry;
	int count;

	snprintf(path, sizeof(path), "%s/class/infiniband/%s/parent", sysfs, nic->device); /* of a software device */
	if (read_line(path, parent, sizeof(parent)))
		found(context, parent);
	snprintf(path, sizeof(path), "%s/class/infiniband/%s/device/net", sysfs, nic->device);
	count = list(path, &entry);
	for (int i = 0; i < count; i++) {
		if (entry[i]->d_name[0] != '.' && is_of_port(sysfs, nic, entry[i]->d_name))
			found(context, entry[i]->d_name);
		free(entry[i]);
	}
	if (count > 0)
		free(entry);
}
