/* No memory at all: the device discards what it would write and takes zeros for what it would read. */
#include "mem/mem.h"

static int null_alloc(const struct mem_conf *conf, struct mem *mem, struct error *err)
{
	(void)conf;
	(void)err;
	mem->ways = MEM_WAY(MEM_BY_NULL);
	return 0;
}

static void null_release(struct mem *mem)
{
	(void)mem;
}

static void null_facts(const struct mem *mem, struct facts *ret)
{
	(void)mem;
	(void)ret;
}

const struct mem_kind_row mem_nullmr = {
	.kind = MEM_NULLMR,
	.name = "a null memory region",
	.alloc = null_alloc,
	.release = null_release,
	.facts = null_facts,
};
