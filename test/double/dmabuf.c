/* Stands in for registering a GPU's memory: by dmabuf, over mlx5's data direct, and by address where peermem resolves it. */
#include "double.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE        4096u
#define DATA_DIRECT 1

/* For the stand-in libmlx5 (mlx5/libmlx5.c). */
#pragma GCC visibility push(default)

int double_data_direct(struct ibv_context *context, char *ret, size_t size);
struct ibv_mr *double_reg_dmabuf(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access,
				 int mlx5_access);

#pragma GCC visibility pop

/* The region's own mapping of what the descriptor stands for. */
static struct ibv_mr *map_region(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
	struct fab_mr like = { .access = (unsigned)access, .addr = iova, .len = length };
	off_t begin = lseek(fd, 0, SEEK_CUR) + (off_t)offset;
	struct ibv_mr *mr;
	struct stat st;
	void *at;

	if (iova % PAGE || begin % PAGE || fstat(fd, &st) || st.st_size < begin + (off_t)length)
		return fails_pointer(EINVAL);
	at = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, begin);
	if (at == MAP_FAILED)
		return NULL;
	like.base = (uintptr_t)at;
	mr = mr_new(pd, &like, NULL);
	if (!mr) {
		munmap(at, length);
		return NULL;
	}
	((struct d_mr *)mr)->mapped = at;
	((struct d_mr *)mr)->mapped_len = length;
	return mr;
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
	int code = fails(CALL_ibv_reg_dmabuf_mr);

	if (!code && !config->dmabuf)
		code = EOPNOTSUPP;
	return code ? fails_pointer(code) : map_region(pd, offset, length, iova, fd, access);
}

int double_data_direct(struct ibv_context *context, char *ret, size_t size)
{
	int code = fails(CALL_mlx5dv_get_data_direct_sysfs_path);

	(void)context;
	if (code || !config->data_direct)
		return code ? code : ENODEV;
	return snprintf(ret, size, "/sys/devices/pci0000:00/0000:00:01.0") < (int)size ? 0 : ENOSPC;
}

struct ibv_mr *double_reg_dmabuf(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access,
				 int mlx5_access)
{
	int code = fails(CALL_mlx5dv_reg_dmabuf_mr);

	/* That path takes only what was exported for PCIe. */
	if (!code && (mlx5_access != DATA_DIRECT || !(fcntl(fd, F_GETFL) & O_APPEND)))
		code = EINVAL;
	return code ? fails_pointer(code) : map_region(pd, offset, length, iova, fd, access);
}

bool gpu_address(const void *at)
{
	char line[256];
	FILE *maps = fopen("/proc/self/maps", "re");
	bool found = false;

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		unsigned long first, last;
		char rights[5];

		found = sscanf(line, "%lx-%lx %4s", &first, &last, rights) == 3 && (uintptr_t)at >= first &&
			(uintptr_t)at < last && strcmp(rights, "---s") == 0 && strstr(line, "fabperf-cuda");
	}
	if (maps)
		fclose(maps);
	return found;
}

/* A second view of what is shared behind an address that the CPU may not touch; NULL with errno. */
void *gpu_view(void *at, size_t length)
{
	void *view;

	if (!config->peermem)
		return fails_pointer(EFAULT);
	view = mremap(at, 0, length, MREMAP_MAYMOVE);
	if (view == MAP_FAILED)
		return fails_pointer(EFAULT);
	if (mprotect(view, length, PROT_READ | PROT_WRITE)) {
		munmap(view, length);
		return fails_pointer(EFAULT);
	}
	return view;
}
