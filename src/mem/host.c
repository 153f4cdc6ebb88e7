/* Data buffers in host memory, on a NUMA node. */
#include "base/error.h"
#include "base/topo.h"
#include "mem/mem.h"

#include <errno.h>
#include <stdlib.h>

/* Where binding to a node is forbidden (some containers) the kernel chooses the node: *node is then unknown. */
static void *allocate(const struct topo *topo, size_t size, int *node)
{
	void *data = topo_alloc(topo, size, *node);

	if (data || *node < 0 || (errno != EPERM && errno != ENOSYS))
		return data;
	*node = -1;
	return topo_alloc(topo, size, -1);
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

int mem_alloc(const struct topo *topo, size_t size, int node, struct mem **ret, struct error *err)
{
	struct mem *mem = calloc(1, sizeof(*mem));

	if (!mem)
		return error_set(err, -ENOMEM, "no memory");
	mem->data = allocate(topo, size, &node);
	if (!mem->data) {
		const int code = -errno;

		free(mem);
		return explain(code, size, node, err);
	}
	mem->size = size;
	mem->node = node;
	mem->topo = topo;
	*ret = mem;
	return 0;
}

void mem_free(struct mem *mem)
{
	if (!mem)
		return;
	topo_free(mem->topo, mem->data, mem->size);
	free(mem);
}
