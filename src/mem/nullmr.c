/* No memory at all: the device discards what it would write and takes zeros for what it would read. */
#include "mem/mem.h"

static int null_alloc(const struct mem_conf *conf, struct mem *mem, struct error *err)
{
	(void)conf;
	(void)mem;
	(void)err;
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

const struct mem_kind_row mem_kind_nullmr = {
	.kind = MEM_NULLMR,
	.name = "a null memory region",
	.ways = MEM_WAY(MEM_BY_NULL),
	.alloc = null_alloc,
	.release = null_release,
	.offer = mem_no_offer,
	.facts = null_facts,
};
