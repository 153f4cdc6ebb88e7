/*
 * Data buffers of a worker: where they live, whether the CPU can touch them, and in which ways a driver can make them
 * known to its device. A kind of memory is one const struct in a file of its own, named in mem.c's table.
 */
#ifndef MEM_MEM_H
#define MEM_MEM_H

#include "base/error.h"
#include "spec/spec.h"

#include <stddef.h>
#include <stdint.h>

struct facts;
struct topo;

/* How a device gets to know a buffer, the most wanted first. */
enum mem_way {
	MEM_BY_ADDRESS, /* by its address in this process */
	MEM_BY_NULL, /* there is none: a null memory region */
	MEM_BY_DEVICE, /* the device's own memory, which the driver allocates; slots begin at 0 */
	MEM_WAYS
};
#define MEM_WAY(way) (1u << (way))

#define MEM_WHY 96

struct mem {
	const struct mem_kind_row *kind;
	uint8_t *data; /* page aligned, zeroed, touched; NULL: the CPU cannot see it */
	uint64_t base; /* address of the first byte as work requests name it */
	size_t size; /* at least what was asked for */
	int node; /* NUMA node it lies on; -1: any, or unknown because binding is forbidden here */
	uint32_t ways; /* mask of MEM_WAY: those that may be tried */
	enum mem_way way; /* set by the driver that registered it */
	char why_not[MEM_WAYS][MEM_WHY]; /* set by the driver: why a better way was not possible */

	const struct topo *topo;
	size_t mapped, page; /* host: bytes mapped in pages of so many bytes */
};

/* What a worker's buffers are to be. */
struct mem_conf {
	const struct spec *spec; /* mem, hugepages */
	const struct topo *topo;
	size_t size;
	int node; /* any when < 0 */
};

struct mem_kind_row {
	enum mem_kind kind;
	const char *name; /* in the report */
	/* Fills mem, which is zeroed but for kind, size, topo and node -1; what it left there on failure is released. */
	int (*alloc)(const struct mem_conf *conf, struct mem *mem, struct error *err);
	void (*release)(struct mem *mem);
	void (*facts)(const struct mem *mem, struct facts *ret);
};

extern const struct mem_kind_row mem_host, mem_nullmr, mem_device;

int mem_alloc(const struct mem_conf *conf, struct mem **ret, struct error *err);
void mem_free(struct mem *mem);
void mem_facts(const struct mem *mem, struct facts *ret); /* once registered */

const char *mem_way_name(enum mem_way way);

#endif
