/* Finds cores and NUMA nodes with hwloc, chooses cores near a device and places threads and memory on them. */
#include "base/topo.h"

#include "base/error.h"
#include "base/units.h"

#include <errno.h>
#include <hwloc.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct topo {
	hwloc_topology_t hw;
	struct core_list usable; /* ascending: what the cgroup and the affinity of the thread that opened it allow */
};

static bool take_core(const char **at, unsigned *ret)
{
	const char *c = *at;
	unsigned core = 0;

	for (; *c >= '0' && *c <= '9' && core < TOPO_MAX_CORES; c++)
		core = core * 10 + (unsigned)(*c - '0');
	if (c == *at || core >= TOPO_MAX_CORES)
		return false;
	*at = c;
	*ret = core;
	return true;
}

/* "5" or "5-9" */
static bool take_range(const char **at, unsigned *first, unsigned *last)
{
	if (!take_core(at, first))
		return false;
	*last = *first;
	if (**at != '-')
		return true;
	(*at)++;
	return take_core(at, last) && *last >= *first;
}

bool core_list_has(const struct core_list *list, unsigned core)
{
	for (unsigned i = 0; i < list->count; i++)
		if (list->core[i] == core)
			return true;
	return false;
}

int core_list_parse(const char *text, struct core_list *ret, struct error *err)
{
	struct core_list list = { 0 };
	const char *at = text;
	unsigned first, last;

	while (*at || list.count) {
		if (!take_range(&at, &first, &last) || (*at && *at != ','))
			return error_set(err, -EINVAL,
					 "'%.80s' is not a list of cores: numbers below %u and ascending ranges, "
					 "as in 0-3,8",
					 text, TOPO_MAX_CORES);
		for (unsigned core = first; core <= last; core++) {
			if (core_list_has(&list, core))
				return error_set(err, -EINVAL, "'%.80s' names core %u twice: once is allowed", text,
						 core);
			list.core[list.count++] = (uint16_t)core;
		}
		if (!*at++)
			break;
	}
	*ret = list;
	return 0;
}

/* Length of the run first, first + 1, ... at position i. */
static unsigned run_length(const struct core_list *list, unsigned i)
{
	unsigned len = 1;

	while (i + len < list->count && list->core[i + len] == list->core[i] + len)
		len++;
	return len;
}

char *core_list_format(const struct core_list *list, char *text, size_t size)
{
	static const char more[] = ",...";
	size_t used = 0;
	unsigned len;

	if (size)
		text[0] = '\0';
	for (unsigned i = 0; i < list->count; i += len) {
		char item[24];
		const char *const comma = i ? "," : "";
		size_t room = sizeof(more);

		len = run_length(list, i);
		if (len > 1)
			snprintf(item, sizeof(item), "%s%u-%u", comma, list->core[i], list->core[i] + len - 1);
		else
			snprintf(item, sizeof(item), "%s%u", comma, list->core[i]);
		if (i + len == list->count)
			room = 1;
		if (used + strlen(item) + room > size) {
			snprintf(text + used, size - used, "%s", more + (i == 0));
			break;
		}
		strcpy(text + used, item);
		used += strlen(item);
	}
	return text;
}

/* hwloc leaves its reason in errno, if anywhere. */
static int hwloc_failure(void)
{
	return errno > 0 ? -errno : -EIO;
}

static int load(hwloc_topology_t hw)
{
	/*
	 * Start-up time counts: no caches, no latencies between nodes, no visit to each core to ask it about itself.
	 * Packages and groups stay: a NUMA node with nothing of its size to hang on would get every core.
	 */
	const unsigned long flags = HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS |
				    HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS | HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING;

	if (hwloc_topology_set_all_types_filter(hw, HWLOC_TYPE_FILTER_KEEP_NONE) ||
	    hwloc_topology_set_type_filter(hw, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_STRUCTURE) ||
	    hwloc_topology_set_type_filter(hw, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_STRUCTURE) ||
	    hwloc_topology_set_type_filter(hw, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL) ||
	    hwloc_topology_set_type_filter(hw, HWLOC_OBJ_OS_DEVICE, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) ||
	    hwloc_topology_set_flags(hw, flags) || hwloc_topology_load(hw))
		return hwloc_failure();
	return 0;
}

/* What the cgroup allows, less what the affinity of the calling thread forbids. */
static int find_usable(hwloc_topology_t hw, struct core_list *ret)
{
	const hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_cpuset(hw);
	hwloc_bitmap_t bound = hwloc_bitmap_alloc_full();

	if (!bound)
		return -ENOMEM;
	if (hwloc_topology_is_thissystem(hw) && hwloc_get_cpubind(hw, bound, HWLOC_CPUBIND_THREAD))
		hwloc_bitmap_fill(bound);
	for (unsigned core = 0; core < TOPO_MAX_CORES; core++)
		if (hwloc_bitmap_isset(allowed, core) && hwloc_bitmap_isset(bound, core))
			ret->core[ret->count++] = (uint16_t)core;
	hwloc_bitmap_free(bound);
	return ret->count ? 0 : -ENODEV;
}

int topo_open(struct topo **ret, struct error *err)
{
	struct topo *topo = calloc(1, sizeof(*topo));
	int rc = -ENOMEM;

	if (topo)
		rc = hwloc_topology_init(&topo->hw) ? hwloc_failure() : load(topo->hw);
	if (rc == 0)
		rc = find_usable(topo->hw, &topo->usable);
	if (rc) {
		topo_close(topo);
		return error_sys(err, rc, "cannot read with hwloc which cores this process may use");
	}
	*ret = topo;
	return 0;
}

void topo_close(struct topo *topo)
{
	if (!topo)
		return;
	if (topo->hw)
		hwloc_topology_destroy(topo->hw);
	free(topo);
}

/* The node whose cores include all of obj's: the first where several kinds of memory are equally near. */
static int node_of(const struct topo *topo, hwloc_obj_t obj)
{
	hwloc_obj_t node = NULL;

	if (!obj || !obj->cpuset || hwloc_bitmap_iszero(obj->cpuset))
		return -1;
	while ((node = hwloc_get_next_obj_by_type(topo->hw, HWLOC_OBJ_NUMANODE, node)))
		if (hwloc_bitmap_isincluded(obj->cpuset, node->cpuset))
			return (int)node->os_index;
	return -1;
}

int topo_read_node(const char *folder)
{
	char path[PATH_MAX + 16], line[32] = "";
	uint64_t node;
	FILE *file;

	snprintf(path, sizeof(path), "%s/numa_node", folder);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fgets(line, sizeof(line), file))
		line[strcspn(line, "\n")] = '\0';
	fclose(file);
	return units_parse_int(line, &node, NULL) || node > INT_MAX ? -1 : (int)node; /* "-1" is no number: unknown */
}

/* Software devices are unknown to hwloc; some have a parent that the kernel places. */
static int node_from_sysfs(const char *class, const char *device)
{
	char folder[256];

	if (strchr(device, '/'))
		return -1;
	snprintf(folder, sizeof(folder), "/sys/class/%s/%s/device", class, device);
	return topo_read_node(folder);
}

int topo_device_node(const struct topo *topo, const char *device)
{
	hwloc_obj_t obj = NULL;
	int node;

	while ((obj = hwloc_get_next_osdev(topo->hw, obj)))
		if (obj->name && !strcmp(obj->name, device))
			return node_of(topo, hwloc_get_non_io_ancestor_obj(topo->hw, obj));
	node = node_from_sysfs("infiniband", device);
	return node >= 0 ? node : node_from_sysfs("net", device);
}

int topo_core_node(const struct topo *topo, unsigned core)
{
	return node_of(topo, hwloc_get_pu_obj_by_os_index(topo->hw, core));
}

/* How many usable hardware threads of the same physical core come before this one. */
static unsigned sibling_rank(const struct topo *topo, unsigned core)
{
	const hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(topo->hw, core);
	const hwloc_obj_t parent = pu ? hwloc_get_ancestor_obj_by_type(topo->hw, HWLOC_OBJ_CORE, pu) : NULL;
	unsigned rank = 0;

	if (!parent)
		return 0;
	for (unsigned i = 0; i < topo->usable.count && topo->usable.core[i] < core; i++)
		rank += hwloc_bitmap_isset(parent->cpuset, topo->usable.core[i]) != 0;
	return rank;
}

/* The smaller, the sooner the core is taken; the low bits are its number. */
static uint32_t preference(const struct topo *topo, int node, const struct core_list *avoid, unsigned core)
{
	const unsigned rank = sibling_rank(topo, core);
	uint32_t key = avoid && core_list_has(avoid, core);

	key = key << 1 | (core == 0);
	key = key << 1 | (node >= 0 && topo_core_node(topo, core) != node);
	key = key << 8 | (rank < 255 ? rank : 255);
	return key << 16 | core;
}

static int compare_keys(const void *a, const void *b)
{
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

/* The cores that may be taken, the most wanted first. */
static unsigned rank_cores(const struct topo *topo, int node, const struct core_list *exclude,
			   const struct core_list *avoid, uint32_t key[TOPO_MAX_CORES])
{
	unsigned keys = 0;

	for (unsigned i = 0; i < topo->usable.count; i++)
		if (!exclude || !core_list_has(exclude, topo->usable.core[i]))
			key[keys++] = preference(topo, node, avoid, topo->usable.core[i]);
	qsort(key, keys, sizeof(key[0]), compare_keys);
	return keys;
}

int topo_choose(const struct topo *topo, int node, unsigned count, const struct core_list *exclude,
		const struct core_list *avoid, struct core_list *ret, struct error *err)
{
	uint32_t key[TOPO_MAX_CORES];
	struct core_list list = { .count = count };
	const unsigned keys = rank_cores(topo, node, exclude, avoid, key);
	char text[128];

	if (count > TOPO_MAX_CORES)
		return error_set(err, -EINVAL, "%u cores are asked for: at most %u", count, TOPO_MAX_CORES);
	if (keys == 0)
		return error_set(err, -EINVAL, "no core is left: this process may use %s and all of them are excluded",
				 core_list_format(&topo->usable, text, sizeof(text)));
	for (unsigned i = 0; i < count; i++)
		list.core[i] = (uint16_t)(key[i % keys] & 0xffff);
	*ret = list;
	return 0;
}

int topo_check(const struct topo *topo, const struct core_list *list, struct error *err)
{
	char text[128];

	for (unsigned i = 0; i < list->count; i++)
		if (!core_list_has(&topo->usable, list->core[i]))
			return error_set(err, -EINVAL,
					 "core %u may not be used by this process: the allowed cores are %s",
					 list->core[i], core_list_format(&topo->usable, text, sizeof(text)));
	return 0;
}

int topo_bind_thread(const struct topo *topo, unsigned core, struct error *err)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	int rc = 0;

	if (!set || hwloc_bitmap_only(set, core))
		rc = -ENOMEM;
	else if (hwloc_set_cpubind(topo->hw, set, HWLOC_CPUBIND_THREAD))
		rc = hwloc_failure();
	hwloc_bitmap_free(set);
	return rc ? error_sys(err, rc, "cannot bind a thread to core %u", core) : 0;
}

int topo_bind_area(const struct topo *topo, void *data, size_t size, int node)
{
	const hwloc_obj_t obj = hwloc_get_numanode_obj_by_os_index(topo->hw, (unsigned)node);

	if (!obj) {
		errno = ENODEV;
		return -1;
	}
	if (hwloc_get_nbobjs_by_type(topo->hw, HWLOC_OBJ_NUMANODE) == 1)
		return 0; /* every page would be there anyway */
	return hwloc_set_area_membind(topo->hw, data, size, obj->nodeset, HWLOC_MEMBIND_BIND, HWLOC_MEMBIND_BYNODESET);
}

void *topo_alloc(const struct topo *topo, size_t size, int node, bool touch)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (data == MAP_FAILED)
		return NULL;
	if (node >= 0 && topo_bind_area(topo, data, size, node)) {
		topo_free(topo, data, size);
		return NULL;
	}
	if (touch &&
	    madvise(data, size, MADV_POPULATE_WRITE) < 0) /* before Linux 5.14: page by page, a trap for each */
		for (size_t i = 0; i < size; i += page)
			*(volatile uint8_t *)(data + i) = 0;
	return data;
}

void topo_free(const struct topo *topo, void *data, size_t size)
{
	const int saved = errno; /* a failed topo_alloc() says why in errno */

	(void)topo;
	if (data)
		munmap(data, size);
	errno = saved;
}
