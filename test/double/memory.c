/* Stands in for libibverbs' calls about protection domains and memory regions; address handles are here, too. */
#include "double.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#undef ibv_reg_mr

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	int code = fails(CALL_ibv_alloc_pd);
	struct d_pd *pd = code ? NULL : calloc(1, sizeof(*pd));

	if (!pd)
		return fails_pointer(code ? code : ENOMEM);
	pd->pd.context = context;
	pd->pd.handle = fabric_handle();
	count_add(COUNT_PD, 1);
	return &pd->pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	int code = fails_to_end(CALL_ibv_dealloc_pd, pd);

	if (code)
		return code;
	if (d_pd_of(pd)->users)
		return fails_busy(pd);
	free(pd);
	count_add(COUNT_PD, -1);
	return 0;
}

static int check_access(unsigned access)
{
	unsigned writes = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

	return access & writes && !(access & IBV_ACCESS_LOCAL_WRITE) ? EINVAL : 0;
}

struct ibv_mr *mr_new(struct ibv_pd *pd, const struct fab_mr *like, void *addr)
{
	struct d_mr *mr = calloc(1, sizeof(*mr));

	if (mr)
		mr->fab = fabric_mr_new();
	if (!mr || !mr->fab) {
		free(mr);
		return fails_pointer(ENOMEM);
	}
	mr->fab->pd = pd->handle;
	mr->fab->access = like->access;
	mr->fab->addr = like->addr;
	mr->fab->len = like->len;
	mr->fab->base = like->base;
	mr->fab->null = like->null;
	mr->mr = (struct ibv_mr){
		.context = pd->context,
		.pd = pd,
		.addr = addr,
		.length = like->len,
		.lkey = mr->fab->key,
		.rkey = like->null ? 0 : mr->fab->key,
	};
	d_pd_of(pd)->users++;
	count_add(COUNT_MR, 1);
	return &mr->mr;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access)
{
	struct fab_mr like = { .access = access, .addr = iova, .len = length, .base = (uintptr_t)addr };
	int code = fails(CALL_ibv_reg_mr);
	void *view = NULL;
	struct ibv_mr *mr;

	if (!code)
		code = config->memlock ? ENOMEM : check_access(access);
	if (!code && iova != (uintptr_t)addr)
		code = EOPNOTSUPP;
	if (!code && gpu_address(addr) && !(view = gpu_view(addr, length)))
		code = errno;
	if (code)
		return fails_pointer(code);
	if (view)
		like.base = (uintptr_t)view;
	mr = mr_new(pd, &like, addr);
	if (mr && view) {
		((struct d_mr *)mr)->mapped = view;
		((struct d_mr *)mr)->mapped_len = length;
	}
	return mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, (unsigned)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	int code = fails_to_end(CALL_ibv_dereg_mr, mr);
	struct d_mr *d = (struct d_mr *)mr;

	if (code)
		return code;
	d->fab->key = 0;
	if (d->mapped)
		munmap(d->mapped, d->mapped_len);
	if (d->dm)
		d->dm->users--;
	d_pd_of(mr->pd)->users--;
	free(mr);
	count_add(COUNT_MR, -1);
	return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	int code = fails(CALL_ibv_create_ah);
	struct d_ah *ah;

	if (!code && (attr->port_num != 1 || (!attr->is_global && !config->infiniband)))
		code = EINVAL;
	if (!code && attr->is_global && attr->grh.sgid_index >= config->gid_count)
		code = EINVAL;
	ah = code ? NULL : calloc(1, sizeof(*ah));
	if (!ah)
		return fails_pointer(code ? code : ENOMEM);
	ah->ah.context = pd->context;
	ah->ah.pd = pd;
	ah->attr = *attr;
	d_pd_of(pd)->users++;
	count_add(COUNT_AH, 1);
	return &ah->ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	int code = fails_to_end(CALL_ibv_destroy_ah, ah);

	if (code)
		return code;
	d_pd_of(ah->pd)->users--;
	free(ah);
	count_add(COUNT_AH, -1);
	return 0;
}
