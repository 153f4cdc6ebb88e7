/* Where devices and cores are (hwloc): lists of cores, the cores near a device, binding of threads and memory. */
#ifndef BASE_TOPO_H
#define BASE_TOPO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

#define TOPO_MAX_CORES 1024

struct core_list {
	unsigned count;
	uint16_t core[TOPO_MAX_CORES]; /* the operating system's CPU numbers, in the order given */
};

/* "5", "5,7", "5-9", "0-3,8": whole text, no duplicates, ascending ranges. An empty text is an empty list. */
int core_list_parse(const char *text, struct core_list *ret, struct error *err);
/* "0-3,8"; ends in "..." where size does not hold it all. */
char *core_list_format(const struct core_list *list, char *text, size_t size);
bool core_list_has(const struct core_list *list, unsigned core);

struct topo;

/* The machine as this process may use it: its cgroup's cpuset and the affinity of the calling thread count. */
int topo_open(struct topo **ret, struct error *err);
void topo_close(struct topo *topo);

/* NUMA node of an OS device (RDMA device or network interface) or -1 when it has none or is unknown. */
int topo_device_node(const struct topo *topo, const char *device);
/* The same by a device's folder in sysfs. */
int topo_read_node(const char *folder);
int topo_core_node(const struct topo *topo, unsigned core);

/*
 * Chooses count cores among those this process may use: the device's NUMA node first, then the others; first one
 * hardware thread a physical core, then their siblings; core 0 last; never one of exclude; those of avoid only when
 * nothing else is left; then some of them twice. -EINVAL when exclude leaves none.
 */
int topo_choose(const struct topo *topo, int node, unsigned count, const struct core_list *exclude,
		const struct core_list *avoid, struct core_list *ret, struct error *err);

/* Whether this process may use each core of the list; the sentence names the first it may not and the allowed ones. */
int topo_check(const struct topo *topo, const struct core_list *list, struct error *err);

int topo_bind_thread(const struct topo *topo, unsigned core, struct error *err); /* the calling thread */

/*
 * Page-aligned zeroed memory on a NUMA node (any when node < 0), touched if asked to; free with topo_free. NULL and errno
 * when it fails: ENODEV for an unknown node, EPERM or ENOSYS where binding is forbidden (some containers; node -1 works
 * there).
 */
void *topo_alloc(const struct topo *topo, size_t size, int node, bool touch);
/* Mapped memory that nobody has touched shall lie on that node; 0, or -1 and errno as above. */
int topo_bind_area(const struct topo *topo, void *data, size_t size, int node);
void topo_free(const struct topo *topo, void *data, size_t size);

#endif
