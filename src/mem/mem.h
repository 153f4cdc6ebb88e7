/* Data buffers of a worker: where they live and how they are freed. */
#ifndef MEM_MEM_H
#define MEM_MEM_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct topo;

struct mem {
	uint8_t *data; /* page aligned, zeroed, touched */
	size_t size;
	int node; /* NUMA node asked for, -1 any */
	const struct topo *topo;
};

int mem_alloc(const struct topo *topo, size_t size, int node, struct mem **ret, struct error *err);
void mem_free(struct mem *mem);

#endif
