/* Stands in for the calls of newer versions of libibverbs that register memory with PCIe processing hints. */
#include "double.h"

#include <errno.h>
#include <stdlib.h>

#pragma GCC visibility push(default)

struct ibv_dmah {
	struct ibv_context *context;
	int64_t hint;
};

struct ibv_dmah_init_attr {
	uint32_t comp_mask, cpu_id;
	uint8_t ph, tph_mem_type;
};

struct ibv_mr_init_attr {
	size_t length;
	int access;
	uint64_t comp_mask, iova;
	void *addr;
	int fd;
	uint64_t fd_offset;
	struct ibv_dmah *dmah;
};

struct ibv_dmah *ibv_alloc_dmah(struct ibv_context *context, struct ibv_dmah_init_attr *attr);
int ibv_dealloc_dmah(struct ibv_dmah *dmah);
struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *attr);

#pragma GCC visibility pop

/* A hint is a must; core and kind of memory come together. */
static bool good(const struct ibv_dmah_init_attr *attr)
{
	bool core = attr->comp_mask & 1, hint = attr->comp_mask & 2, mem = attr->comp_mask & 4;

	return !(attr->comp_mask & ~7u) && hint && core == mem && attr->ph <= 3 && attr->tph_mem_type <= 1;
}

struct ibv_dmah *ibv_alloc_dmah(struct ibv_context *context, struct ibv_dmah_init_attr *attr)
{
	int code = fails(CALL_ibv_alloc_dmah);
	struct ibv_dmah *dmah;

	if (!code && !config->tph)
		code = EOPNOTSUPP;
	if (!code && !good(attr))
		code = EINVAL;
	dmah = code ? NULL : calloc(1, sizeof(*dmah));
	if (!dmah)
		return fails_pointer(code ? code : ENOMEM);
	dmah->context = context;
	dmah->hint = ((int64_t)attr->cpu_id << 16 | attr->tph_mem_type << 8 | attr->ph) + 1;
	count_add(COUNT_DMAH, 1);
	return dmah;
}

int ibv_dealloc_dmah(struct ibv_dmah *dmah)
{
	int code = fails_to_end(CALL_ibv_dealloc_dmah, dmah);

	if (code)
		return code;
	count_add(COUNT_DMAH, -1);
	free(dmah);
	return 0;
}

struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *attr)
{
	const struct fab_mr like = {
		.access = (unsigned)attr->access,
		.addr = (uintptr_t)attr->addr,
		.len = attr->length,
		.base = (uintptr_t)attr->addr,
	};
	int code = fails(CALL_ibv_reg_mr_ex);

	if (!code && (attr->comp_mask != (2 | 16) || attr->dmah->context != pd->context))
		code = EINVAL;
	if (code)
		return fails_pointer(code);
	count_add(COUNT_HINT, (int)(attr->dmah->hint - count_of(COUNT_HINT)));
	return mr_new(pd, &like, attr->addr);
}
