/* Finds mlx5's data direct: a PCIe path of its own from the NIC to a GPU, which libmlx5 of recent releases offers. */
#include "driver/ibv.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

/* In the program's own symbols first: a library that was loaded before stands in for libmlx5. */
static void *symbol(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name), *handle;

	if (found)
		return found;
	handle = dlopen("libmlx5.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!handle)
		return NULL;
	found = dlsym(handle, name);
	dlclose(handle);
	return found;
}

int ib_direct_find(struct ibv_context *context, struct ib_direct *ret)
{
	int (*path)(struct ibv_context *, char *, size_t) = NULL;
	void *at = symbol("mlx5dv_get_data_direct_sysfs_path");
	char text[PATH_MAX];

	ret->call = "mlx5dv_get_data_direct_sysfs_path";
	memcpy(&path, &at, sizeof(path));
	at = symbol("mlx5dv_reg_dmabuf_mr");
	memcpy(&ret->reg, &at, sizeof(ret->reg));
	if (!path || !ret->reg)
		return ENOSYS;
	return path(context, text, sizeof(text));
}
