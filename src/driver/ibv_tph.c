/* Registers memory with PCIe processing hints, by calls that only newer versions of libibverbs have. */
#include "driver/ibv.h"

#include "spec/result.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

/* As in the headers of rdma-core since version 59; the library's own, opaque: a struct ibv_dmah. */
enum { HINT_CORE = 1 << 0, HINT_PH = 1 << 1, HINT_MEM = 1 << 2 };
struct hint_attr {
	uint32_t comp_mask, cpu_id;
	uint8_t ph, tph_mem_type;
};

enum { REG_ADDR = 1 << 1, REG_DMAH = 1 << 4 };
struct reg_attr {
	size_t length;
	int access;
	uint64_t comp_mask, iova;
	void *addr;
	int fd;
	uint64_t fd_offset;
	void *dmah;
};

struct ib_tph {
	void *(*alloc)(struct ibv_context *context, struct hint_attr *attr);
	int (*dealloc)(void *dmah);
	struct ibv_mr *(*reg)(struct ibv_pd *pd, struct reg_attr *attr);
	void *dmah;
};

static struct hint_attr hint_of(const struct spec *spec)
{
	struct hint_attr attr = { .comp_mask = HINT_PH, .ph = (uint8_t)(spec->ph - 1) };

	if (spec->tph_core == SPEC_AUTO)
		return attr;
	attr.comp_mask |= HINT_CORE | HINT_MEM;
	attr.cpu_id = (uint32_t)spec->tph_core;
	attr.tph_mem_type = spec->tph_mem == TPH_MEM_PM;
	return attr;
}

int ib_tph_open(struct ib_port *p, struct error *err)
{
	struct hint_attr attr = hint_of(p->spec);
	struct ib_tph *tph = calloc(1, sizeof(*tph));

	if (!tph)
		return error_set(err, -ENOMEM, "no memory for processing hints");
	p->tph = tph;
	tph->alloc = dlsym(RTLD_DEFAULT, "ibv_alloc_dmah");
	tph->dealloc = dlsym(RTLD_DEFAULT, "ibv_dealloc_dmah");
	tph->reg = dlsym(RTLD_DEFAULT, "ibv_reg_mr_ex");
	if (!tph->alloc || !tph->dealloc || !tph->reg)
		return error_set(err, -ENOSYS,
				 "--ph needs a newer libibverbs than this host's, which has no ibv_alloc_dmah: RDMA "
				 "device %s cannot be told hints",
				 p->name);
	errno = 0;
	tph->dmah = tph->alloc(p->context, &attr);
	if (!tph->dmah)
		return ib_fail(err, errno, "ibv_alloc_dmah", "RDMA device %s takes no processing hint %u", p->name,
			       attr.ph);
	return 0;
}

void ib_tph_close(struct ib_port *p)
{
	struct ib_tph *tph = p->tph;

	if (tph && tph->dmah)
		ib_kept(p, tph->dealloc(tph->dmah), "ibv_dealloc_dmah", "a processing hint");
	free(tph);
	p->tph = NULL;
}

struct ibv_mr *ib_tph_reg(struct ib_port *p, void *addr, size_t size, unsigned access)
{
	struct reg_attr attr = {
		.length = size,
		.access = (int)access,
		.comp_mask = REG_ADDR | REG_DMAH,
		.addr = addr,
		.dmah = p->tph->dmah,
	};

	return p->tph->reg(p->pd, &attr);
}

void ib_tph_facts(const struct ib_port *p, struct facts *ret)
{
	const struct hint_attr hint = hint_of(p->spec);

	facts_add_number(ret, "ph", "Processing hint", hint.ph);
	if (!(hint.comp_mask & HINT_CORE))
		return;
	facts_add_number(ret, "tphCoreId", "Hint's core", hint.cpu_id);
	facts_add(ret, "tphMem", "Hint's memory", "%s", hint.tph_mem_type ? "persistent" : "volatile");
}
