/* Stands in for memory that is none or the device's own: null memory regions, device memory. */
#include "double.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define MESSAGE_MOST (size_t)(1u << 31)

/* Address space for the longest message; only what is written takes memory. */
static void *reserve(int protection)
{
	void *at = mmap(NULL, MESSAGE_MOST, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

const uint8_t *null_zeros(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static uint8_t *zeros;

	pthread_mutex_lock(&lock);
	if (!zeros)
		zeros = reserve(PROT_READ);
	pthread_mutex_unlock(&lock);
	return zeros;
}

struct ibv_mr *null_mr_alloc(struct ibv_pd *pd)
{
	struct fab_mr like = { .access = IBV_ACCESS_LOCAL_WRITE, .len = UINT64_MAX, .null = true };
	int code = fails(CALL_ibv_alloc_null_mr);
	void *sink = code ? NULL : reserve(PROT_READ | PROT_WRITE);
	struct ibv_mr *mr;

	if (!sink)
		return fails_pointer(code ? code : ENOMEM);
	like.base = (uintptr_t)sink;
	mr = mr_new(pd, &like, NULL);
	if (!mr) {
		munmap(sink, MESSAGE_MOST);
		return NULL;
	}
	((struct d_mr *)mr)->mapped = sink;
	((struct d_mr *)mr)->mapped_len = MESSAGE_MOST;
	return mr;
}

/* The device's memory is shared by all that use it; here by all of one process. */
static _Atomic size_t used;

struct ibv_dm *dm_alloc(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
	int code = fails(CALL_ibv_alloc_dm);
	struct d_dm *dm;

	if (!code && (attr->comp_mask || !attr->length))
		code = EINVAL;
	if (!code && used + attr->length > config->dm)
		code = ENOMEM;
	dm = code ? NULL : calloc(1, sizeof(*dm));
	if (dm)
		dm->data = calloc(1, attr->length);
	if (!dm || !dm->data) {
		free(dm);
		return fails_pointer(code ? code : ENOMEM);
	}
	dm->dm.context = context;
	dm->len = attr->length;
	used += dm->len;
	count_add(COUNT_DM, 1);
	return &dm->dm;
}

int dm_free(struct ibv_dm *dm)
{
	struct d_dm *d = (struct d_dm *)dm;
	int code = fails_to_end(CALL_ibv_free_dm, dm);

	if (!code && d->users)
		code = EBUSY;
	if (code)
		return code;
	used -= d->len;
	free(d->data);
	free(d);
	count_add(COUNT_DM, -1);
	return 0;
}

struct ibv_mr *dm_reg(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t len, unsigned access)
{
	struct d_dm *d = (struct d_dm *)dm;
	const struct fab_mr like = { .access = access, .len = len, .base = (uintptr_t)d->data + offset };
	int code = fails(CALL_ibv_reg_dm_mr);
	struct ibv_mr *mr;

	if (!code && (!(access & IBV_ACCESS_ZERO_BASED) || offset > d->len || len > d->len - offset))
		code = EINVAL;
	mr = code ? fails_pointer(code) : mr_new(pd, &like, NULL);
	if (mr) {
		((struct d_mr *)mr)->dm = d;
		d->users++;
	}
	return mr;
}
