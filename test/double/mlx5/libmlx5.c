/* Stands in for libmlx5: hands its calls to the stand-in device, which is preloaded. */
#include <infiniband/mlx5dv.h>

bool double_is_supported(struct ibv_device *device);
struct ibv_qp *double_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *init,
				struct mlx5dv_qp_init_attr *own);
struct mlx5dv_qp_ex *double_qp_ex(struct ibv_qp_ex *qp);
int double_data_direct(struct ibv_context *context, char *ret, size_t size);
struct ibv_mr *double_reg_dmabuf(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access,
				 int own_access);
/* Not yet in every version's header. */
int mlx5dv_get_data_direct_sysfs_path(struct ibv_context *context, char *ret, size_t size);
struct ibv_mr *mlx5dv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
				    int access, int own_access);

bool mlx5dv_is_supported(struct ibv_device *device)
{
	return double_is_supported(device);
}

struct ibv_qp *mlx5dv_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *init,
				struct mlx5dv_qp_init_attr *own)
{
	return double_create_qp(context, init, own);
}

struct mlx5dv_qp_ex *mlx5dv_qp_ex_from_ibv_qp_ex(struct ibv_qp_ex *qp)
{
	return double_qp_ex(qp);
}

int mlx5dv_get_data_direct_sysfs_path(struct ibv_context *context, char *ret, size_t size)
{
	return double_data_direct(context, ret, size);
}

struct ibv_mr *mlx5dv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
				    int access, int own_access)
{
	return double_reg_dmabuf(pd, offset, length, iova, fd, access, own_access);
}
