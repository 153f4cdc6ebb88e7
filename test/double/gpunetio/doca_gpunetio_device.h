/* What the GPUNetIO plug-in uses of the open library's device side, of its version 2.0. */
#ifndef STUB_DOCA_GPUNETIO_DEVICE_H
#define STUB_DOCA_GPUNETIO_DEVICE_H

#include <cuda_runtime.h>
#include <stdint.h>

#define DOCA_GPUNETIO_VOLATILE(x) (*(volatile decltype(x) *)&(x))

struct doca_gpu_dev_verbs_cq;
struct doca_gpu_dev_verbs_qp;
struct doca_gpu_dev_verbs_wqe;

enum { DOCA_GPUNETIO_IB_MLX5_OPCODE_RDMA_WRITE = 8 };
enum doca_gpu_dev_verbs_wqe_ctrl_flags { DOCA_GPUNETIO_IB_MLX5_WQE_CTRL_CQ_UPDATE = 8 };
enum doca_gpu_dev_verbs_resource_sharing_mode {
	DOCA_GPUNETIO_VERBS_RESOURCE_SHARING_MODE_EXCLUSIVE = 0,
	DOCA_GPUNETIO_VERBS_RESOURCE_SHARING_MODE_GPU = 2,
};
enum { DOCA_GPUNETIO_VERBS_GPU_CODE_OPT_DEFAULT = 0, DOCA_GPUNETIO_VERBS_GPU_CODE_OPT_CPU_PROXY_UPDATE_PI = 1 };

__device__ struct doca_gpu_dev_verbs_cq *doca_gpu_dev_verbs_qp_get_cq_sq(struct doca_gpu_dev_verbs_qp *qp);
__device__ struct doca_gpu_dev_verbs_wqe *doca_gpu_dev_verbs_get_wqe_ptr(struct doca_gpu_dev_verbs_qp *qp, uint16_t at);
__device__ void doca_gpu_dev_verbs_wqe_prepare_write(
	struct doca_gpu_dev_verbs_qp *qp, struct doca_gpu_dev_verbs_wqe *wqe, const uint16_t at, const uint32_t opcode,
	enum doca_gpu_dev_verbs_wqe_ctrl_flags flags, const uint32_t immediate, const uint64_t remote,
	const uint32_t rkey, const uint64_t local, const uint32_t lkey, const uint32_t bytes);
template <enum doca_gpu_dev_verbs_resource_sharing_mode mode = DOCA_GPUNETIO_VERBS_RESOURCE_SHARING_MODE_GPU>
__device__ int doca_gpu_dev_verbs_poll_one_cq_at(struct doca_gpu_dev_verbs_cq *cq, uint64_t at);
template <enum doca_gpu_dev_verbs_resource_sharing_mode mode = DOCA_GPUNETIO_VERBS_RESOURCE_SHARING_MODE_GPU>
__device__ void doca_gpu_dev_verbs_submit(struct doca_gpu_dev_verbs_qp *qp, uint64_t end, uint32_t options = 0);

#endif
