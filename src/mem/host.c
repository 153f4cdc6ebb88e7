/* Data buffers in host memory, on a NUMA node, in pages of the usual size or huge ones. */
#include "base/topo.h"
#include "base/units.h"
#include "mem/huge.h"
#include "mem/mem.h"
#include "spec/result.h"

#include <errno.h>

/* Where binding to a node is forbidden (some containers) the kernel chooses the node: *node is then unknown. */
static void *allocate(const struct mem_conf *conf, int *node)
{
	const struct topo *topo = conf->host->topo;
	void *data = topo_alloc(topo, conf->size, *node, !conf->unused);

	if (data || *node < 0 || (errno != EPERM && errno != ENOSYS))
		return data;
	*node = -1;
	return topo_alloc(topo, conf->size, -1, !conf->unused);
}

static int explain(int code, size_t size, int node, struct error *err)
{
	if (code == -ENOMEM)
		return error_set(err, code,
				 "cannot allocate %zu bytes of data buffers: give a smaller --working_set or -q", size);
	if (node < 0)
		return error_sys(err, code, "cannot allocate %zu bytes of data buffers", size);
	return error_sys(err, code, "cannot allocate %zu bytes of data buffers on NUMA node %d", size, node);
}

static int alloc_huge(const struct mem_conf *conf, int *node, struct mem *mem, struct error *err)
{
	struct huge huge = { .size = conf->size };
	int rc = huge_alloc(conf->host->topo, conf->spec->hugepages, node, &huge, err);

	mem->data = huge.data;
	mem->mapped = huge.mapped;
	mem->page = huge.page;
	return rc;
}

static int host_alloc(const struct mem_conf *conf, struct mem *mem, struct error *err)
{
	int node = conf->host->node, rc = 0;

	if (conf->spec->hugepages) {
		rc = alloc_huge(conf, &node, mem, err);
	} else {
		mem->mapped = conf->size;
		mem->data = allocate(conf, &node);
		if (!mem->data)
			rc = explain(-errno, conf->size, node, err);
	}
	mem->node = node;
	mem->base = (uintptr_t)mem->data;
	return rc;
}

static void host_release(struct mem *mem)
{
	topo_free(mem->host.topo, mem->data, mem->mapped);
}

static void host_facts(const struct mem *mem, struct facts *ret)
{
	char size[UNITS_TEXT];

	if (mem->page)
		facts_add(ret, "hugePages", "Huge pages a worker", "%zu of %sB", mem->mapped / mem->page,
			  units_format_size(mem->page, size));
}

const struct mem_kind_row mem_kind_host = {
	.kind = MEM_HOST,
	.name = "host memory",
	.ways = MEM_WAY(MEM_BY_ADDRESS),
	.alloc = host_alloc,
	.release = host_release,
	.offer = mem_no_offer,
	.facts = host_facts,
};
