/* Data buffers in host memory, on a NUMA node. */
#include "base/error.h"
#include "base/topo.h"
#include "mem/mem.h"

#include <errno.h>
#include <stdlib.h>

int mem_alloc(const struct topo *topo, size_t size, int node, struct mem **ret, struct error *err)
{
	struct mem *mem = calloc(1, sizeof(*mem));

	if (!mem)
		return error_set(err, -ENOMEM, "no memory");
	mem->data = topo_alloc(topo, size, node);
	if (!mem->data) {
		free(mem);
		return error_set(err, -ENOMEM,
				 "cannot allocate %zu bytes of data buffers: give a smaller --working_set or -q", size);
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
