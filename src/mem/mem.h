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
	MEM_BY_DATA_DIRECT, /* by a dmabuf, over a PCIe path of its own between GPU and NIC */
	MEM_BY_DMABUF,
	MEM_BY_PEERMEM, /* by its address on the GPU, which a kernel module resolves */
	MEM_WAYS
};
#define MEM_WAY(way) (1u << (way))

#define MEM_WHY 96

/* What memory is chosen by on this host; what it points to outlives the memory. */
struct mem_host {
	const struct topo *topo;
	int node; /* of host memory, any when < 0 */
	const char *cuda_lib_path; /* folder of libcuda; empty: the loader's */
	const char *sysfs; /* "/sys" */
};

struct mem {
	const struct mem_kind_row *kind;
	uint8_t *data; /* page aligned, zeroed, touched unless unused; NULL: the CPU cannot see it */
	uint64_t base; /* address of the first byte as work requests name it */
	size_t size; /* at least what was asked for */
	int node; /* NUMA node it lies on; -1: any, or unknown because binding is forbidden here */
	uint32_t ways; /* mask of MEM_WAY: those that may be tried */
	enum mem_way way; /* set by the driver that registered it */
	char why_not[MEM_WAYS][MEM_WHY]; /* set by the driver: why a better way was not possible */

	struct mem_host host;
	size_t mapped, page; /* host: bytes mapped in pages of so many bytes */
	int gpu; /* cuda: its number; -1: no GPU's */
	struct cuda_mem *cuda;
};

/* What a worker's buffers are to be. */
struct mem_conf {
	const struct spec *spec; /* mem, hugepages, gpu */
	const struct mem_host *host;
	size_t size;
	bool unused; /* the driver neither reads nor writes them: they take no memory */
	unsigned worker; /* the how many-th of this side */
	const char *device; /* RDMA device that uses it; NULL: none */
};

struct mem_kind_row {
	enum mem_kind kind;
	const char *name; /* in the report */
	uint32_t ways; /* mask of MEM_WAY */
	/* Fills mem, which is zeroed but for kind, size, ways, host, node and gpu (-1); what it left there on failure is released. */
	int (*alloc)(const struct mem_conf *conf, struct mem *mem, struct error *err);
	void (*release)(struct mem *mem);
	/*
	 * Makes it ready to be registered in a way: a file descriptor of its dmabuf (whose first byte is data's), which
	 * the caller closes, or -1 where the way needs none. Negative errno with a sentence, and why_not, when it cannot be.
	 */
	int (*offer)(struct mem *mem, enum mem_way way, int *ret_fd, struct error *err);
	void (*facts)(const struct mem *mem, struct facts *ret);
};

extern const struct mem_kind_row mem_kind_host, mem_kind_nullmr, mem_kind_device, mem_kind_cuda, mem_kind_cuda_auto,
	mem_kind_cuda_peermem, mem_kind_cuda_dmabuf, mem_kind_cuda_data_direct;

int mem_alloc(const struct mem_conf *conf, struct mem **ret, struct error *err);
void mem_free(struct mem *mem);
void mem_facts(const struct mem *mem, struct facts *ret); /* once registered */

/* As kind->offer. */
int mem_offer(struct mem *mem, enum mem_way way, int *ret_fd, struct error *err);
int mem_no_offer(struct mem *mem, enum mem_way way, int *ret_fd, struct error *err); /* -1: nothing to do */
const char *mem_way_name(enum mem_way way);
/* Notes in short why a way was not possible. */
void mem_note(struct mem *mem, enum mem_way way, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
