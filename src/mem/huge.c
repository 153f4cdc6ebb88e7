/* Huge pages: of which size, how many are free, and mapping them on a NUMA node. */
#include "mem/huge.h"

#include "base/error.h"
#include "base/procfs.h"
#include "base/topo.h"
#include "base/units.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define POOLS "/sys/kernel/mm/hugepages/hugepages-"

/* By the names of --hugepages; 0: the system's usual size. */
static const uint8_t shifts[] = { 0, 0, 16, 21, 25, 29, 30, 34 };

static uint64_t pool(size_t page, const char *what)
{
	char path[160];

	snprintf(path, sizeof(path), POOLS "%zukB/%s", page / 1024, what);
	return procfs_number(path, "");
}

static bool has_pool(size_t page)
{
	char path[160];

	snprintf(path, sizeof(path), POOLS "%zukB/nr_hugepages", page / 1024);
	return access(path, F_OK) == 0;
}

size_t huge_page_size(uint32_t hugepages)
{
	if (hugepages >= sizeof(shifts))
		return 0;
	return shifts[hugepages] ? (size_t)1 << shifts[hugepages]
				 : procfs_number("/proc/meminfo", "Hugepagesize:") * 1024;
}

static int explain(int code, size_t page, size_t need, int node, struct error *err)
{
	const uint64_t all = pool(page, "nr_hugepages"), free = pool(page, "free_hugepages"),
		       promised = pool(page, "resv_hugepages"), left = free > promised ? free - promised : 0;
	char size[UNITS_TEXT], where[40] = "";

	units_format_size(page, size);
	if (code != -ENOMEM && code != -EFAULT)
		return error_sys(err, code, "cannot map %zu huge pages of %sB for the data buffers (--hugepages)", need,
				 size);
	if (node >= 0)
		snprintf(where, sizeof(where), " on NUMA node %d", node);
	return error_set(err, -ENOMEM,
			 "a worker's data buffers need %zu huge pages of %sB%s (--hugepages) and %llu of this host's "
			 "%llu are free: reserve them with 'echo %llu > " POOLS "%zukB/nr_hugepages'",
			 need, size, where, (unsigned long long)left, (unsigned long long)all,
			 (unsigned long long)(all + (need > left ? need - left : need)), page / 1024);
}

/* Puts the pages where they belong, and into memory: to touch one that is not there would kill the process. */
static int settle(const struct topo *topo, uint8_t *data, size_t size, size_t page, int *node)
{
	if (*node >= 0 && topo_bind_area(topo, data, size, *node)) {
		if (errno != EPERM && errno != ENOSYS)
			return -errno;
		*node = -1;
	}
	if (madvise(data, size, MADV_POPULATE_WRITE) == 0)
		return 0;
	if (errno != EINVAL) /* a kernel before 5.14 does not know it */
		return -errno;
	for (size_t i = 0; i < size; i += page)
		*(volatile uint8_t *)(data + i) = 0;
	return 0;
}

int huge_alloc(const struct topo *topo, uint32_t hugepages, int *node, struct huge *ret, struct error *err)
{
	const size_t page = huge_page_size(hugepages);
	char text[UNITS_TEXT];
	size_t need;
	int rc;

	if (!page || !has_pool(page))
		return error_set(err, -EINVAL, "this host has no huge pages of %sB (--hugepages): see " POOLS "*",
				 page ? units_format_size(page, text) : "any size of ");
	need = (ret->size + page - 1) / page;
	ret->page = page;
	ret->mapped = need * page;
	ret->data = mmap(NULL, ret->mapped, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | __builtin_ctzl(page) << MAP_HUGE_SHIFT, -1, 0);
	if (ret->data == MAP_FAILED) {
		ret->data = NULL;
		return explain(-errno, page, need, -1, err);
	}
	rc = settle(topo, ret->data, ret->mapped, page, node);
	if (rc == 0)
		return 0;
	munmap(ret->data, ret->mapped);
	ret->data = NULL;
	return explain(rc, page, need, *node, err);
}
