/* Memory of the RDMA device itself: the driver allocates it, the CPU cannot see it. */
#include "mem/mem.h"

static int device_alloc(const struct mem_conf *conf, struct mem *mem, struct error *err)
{
	(void)conf;
	(void)mem;
	(void)err;
	return 0;
}

static void device_release(struct mem *mem)
{
	(void)mem;
}

static void device_facts(const struct mem *mem, struct facts *ret)
{
	(void)mem;
	(void)ret;
}

const struct mem_kind_row mem_kind_device = {
	.kind = MEM_DEVICE,
	.name = "device memory",
	.ways = MEM_WAY(MEM_BY_DEVICE),
	.alloc = device_alloc,
	.release = device_release,
	.offer = mem_no_offer,
	.facts = device_facts,
};
