/* Huge pages for data buffers. */
#ifndef MEM_HUGE_H
#define MEM_HUGE_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct topo;

struct huge {
	size_t size; /* in: bytes needed */
	uint8_t *data;
	size_t mapped, page; /* bytes; data is freed by munmap of mapped */
};

/* Bytes of a page for a value of --hugepages; 0 when this host has none. */
size_t huge_page_size(uint32_t hugepages);
/* Maps whole huge pages on *node (any when < 0; set to -1 where binding is forbidden). The sentence says how many are free. */
int huge_alloc(const struct topo *topo, uint32_t hugepages, int *node, struct huge *ret, struct error *err);

#endif
