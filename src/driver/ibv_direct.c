/* Finds mlx5's data direct: a PCIe path of its own from the NIC to a GPU, which libmlx5 of recent releases offers. */
#include "driver/ibv.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

int ib_direct_find(struct ibv_context *context, struct ib_direct *ret)
{
	int (*path)(struct ibv_context *, char *, size_t) = NULL;
	void *at = ib_mlx5_find("mlx5dv_get_data_direct_sysfs_path");
	char text[PATH_MAX];

	ret->call = "mlx5dv_get_data_direct_sysfs_path";
	memcpy(&path, &at, sizeof(path));
	at = ib_mlx5_find("mlx5dv_reg_dmabuf_mr");
	memcpy(&ret->reg, &at, sizeof(ret->reg));
	if (!path || !ret->reg)
		return ENOSYS;
	return path(context, text, sizeof(text));
}
