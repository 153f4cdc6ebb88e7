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
	int node; /* NUMA node it lies on; -1: any, or unknown because binding is forbidden here */
	const struct topo *topo;
};

/* On a NUMA node, any when node < 0. */
int mem_alloc(const struct topo *topo, size_t size, int node, struct mem **ret, struct error *err);
void mem_free(struct mem *mem);

#endif
