/* The GPUNetIO plug-in, for nvcc and the open GPUNetIO library: this side of it, which starts and stops the threads on the GPU. */
extern "C" {
#include "driver/gpunetio.h"
}

#include "driver/gpunetio.cuh"

#include <cuda_runtime.h>
#include <doca_gpunetio_host.h>
#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VOLTA 7 /* the first compute capability with what the library needs */

struct gpunetio_gpu {
	struct doca_gpu *gpu;
	int number;
};

struct gpunetio_qp {
	struct gpunetio_gpu *gpu;
	struct doca_gpu_verbs_qp_hl *qp;
	struct doca_gpu_dev_verbs_qp *on_gpu;
	struct gpunetio_box *box;
	cudaStream_t stream;
	bool runs;
	uint64_t posted; /* by all threads that have ended */
	pthread_t proxy; /* rings the doorbell where the GPU cannot */
	bool has_proxy;
	int proxy_ends;
};

static int failed_cuda(cudaError_t code, const char *call, char *why)
{
	snprintf(why, GPUNETIO_WHY, "%s: %s", call, cudaGetErrorString(code));
	return code == cudaErrorMemoryAllocation ? -ENOMEM : -EIO;
}

static int failed_doca(doca_error_t code, const char *call, char *why)
{
	snprintf(why, GPUNETIO_WHY, "%s: DOCA's error %d; DOCA_GPUNETIO_LOG=6 in the environment tells more in the system's log",
		 call, (int)code);
	return code == DOCA_ERROR_NO_MEMORY ? -ENOMEM : code == DOCA_ERROR_NOT_SUPPORTED ? -EOPNOTSUPP : -EIO;
}

#define CUDA(call, ...)                                                                                                \
	do {                                                                                                           \
		const cudaError_t code_ = call(__VA_ARGS__);                                                           \
		if (code_ != cudaSuccess)                                                                              \
			return failed_cuda(code_, #call, why);                                                         \
	} while (0)
#define DOCA(call, ...)                                                                                                \
	do {                                                                                                           \
		const doca_error_t code_ = call(__VA_ARGS__);                                                          \
		if (code_ != DOCA_SUCCESS)                                                                             \
			return failed_doca(code_, #call, why);                                                         \
	} while (0)

static int check_gpu(int number, char *bus, size_t size, char *why)
{
	int major = 0;

	DOCA(doca_gpu_verbs_check_host_code_compatibility, DOCA_GPUNETIO_HOST_CODE_VERSION);
	DOCA(doca_gpu_verbs_check_device_code_compatibility, DOCA_GPUNETIO_DEVICE_CODE_VERSION);
	CUDA(cudaSetDevice, number);
	CUDA(cudaFree, NULL); /* makes CUDA's context */
	CUDA(cudaDeviceGetAttribute, &major, cudaDevAttrComputeCapabilityMajor, number);
	if (major < VOLTA) {
		snprintf(why, GPUNETIO_WHY, "its compute capability is %d, and Volta's, %d, is the least", major, VOLTA);
		return -EOPNOTSUPP;
	}
	CUDA(cudaDeviceGetPCIBusId, bus, (int)size, number);
	return 0;
}

static void plugin_close(struct gpunetio_gpu *gpu)
{
	if (gpu && gpu->gpu)
		doca_gpu_destroy(gpu->gpu);
	free(gpu);
}

static int open_gpu(struct gpunetio_gpu *gpu, char *why)
{
	char bus[32] = "";
	const int rc = check_gpu(gpu->number, bus, sizeof(bus), why);

	if (rc)
		return rc;
	DOCA(doca_gpu_create, bus, &gpu->gpu);
	return 0;
}

static int plugin_open(int number, struct gpunetio_gpu **ret, char *why)
{
	struct gpunetio_gpu *gpu = (struct gpunetio_gpu *)calloc(1, sizeof(*gpu));
	int rc;

	if (!gpu)
		return -ENOMEM;
	gpu->number = number;
	rc = open_gpu(gpu, why);
	if (rc) {
		plugin_close(gpu);
		return rc;
	}
	*ret = gpu;
	return 0;
}

static void *ring_doorbells(void *arg)
{
	struct gpunetio_qp *qp = (struct gpunetio_qp *)arg;
	bool progressed;

	while (!__atomic_load_n(&qp->proxy_ends, __ATOMIC_ACQUIRE))
		if (doca_gpu_verbs_cpu_proxy_progress(qp->qp->qp_gverbs, &progressed) != DOCA_SUCCESS)
			break;
	return NULL;
}

/* The thread on the GPU has ended when this returns. */
static void stop(struct gpunetio_qp *qp)
{
	if (!qp->runs)
		return;
	__atomic_store_n(&qp->box->stop, 1, __ATOMIC_RELEASE);
	cudaStreamSynchronize(qp->stream);
	qp->posted += qp->box->posted;
	qp->runs = false;
}

static void qp_close(struct gpunetio_qp *qp)
{
	if (!qp)
		return;
	cudaSetDevice(qp->gpu->number);
	stop(qp);
	if (qp->has_proxy) {
		__atomic_store_n(&qp->proxy_ends, 1, __ATOMIC_RELEASE);
		pthread_join(qp->proxy, NULL);
	}
	if (qp->stream)
		cudaStreamDestroy(qp->stream);
	if (qp->qp)
		doca_gpu_verbs_destroy_qp_hl(qp->qp);
	if (qp->box)
		cudaFreeHost(qp->box);
	free(qp);
}

static int open_qp(struct gpunetio_qp *qp, struct ibv_pd *pd, uint32_t depth, char *why)
{
	struct doca_gpu_verbs_qp_init_attr_hl attr;

	memset(&attr, 0, sizeof(attr));
	attr.gpu_dev = qp->gpu->gpu;
	attr.ibpd = pd;
	attr.sq_nwqe = (uint16_t)depth;
	attr.nic_handler = DOCA_GPUNETIO_VERBS_NIC_HANDLER_AUTO;
	attr.mreg_type = DOCA_GPUNETIO_VERBS_MEM_REG_TYPE_DEFAULT;
	CUDA(cudaSetDevice, qp->gpu->number);
	CUDA(cudaHostAlloc, (void **)&qp->box, sizeof(*qp->box), cudaHostAllocMapped);
	CUDA(cudaStreamCreateWithFlags, &qp->stream, cudaStreamNonBlocking);
	DOCA(doca_gpu_verbs_create_qp_hl, &attr, &qp->qp);
	DOCA(doca_gpu_verbs_get_qp_dev, qp->qp->qp_gverbs, &qp->on_gpu);
	if (qp->qp->nic_handler == DOCA_GPUNETIO_VERBS_NIC_HANDLER_CPU_PROXY)
		qp->has_proxy = pthread_create(&qp->proxy, NULL, ring_doorbells, qp) == 0;
	return 0;
}

static int qp_open(struct gpunetio_gpu *gpu, struct ibv_pd *pd, uint32_t depth, struct gpunetio_qp **ret,
		   struct doca_verbs_qp **handle, char *why)
{
	struct gpunetio_qp *qp = (struct gpunetio_qp *)calloc(1, sizeof(*qp));
	int rc;

	if (!qp)
		return -ENOMEM;
	qp->gpu = gpu;
	rc = open_qp(qp, pd, depth, why);
	if (rc) {
		qp_close(qp);
		return rc;
	}
	*ret = qp;
	*handle = qp->qp->qp;
	return 0;
}

static int qp_start(struct gpunetio_qp *qp, const struct gpunetio_work *work, struct gpunetio_box **ret, char *why)
{
	struct gpunetio_work its = *work;
	struct gpunetio_box *on_gpu = NULL;

	CUDA(cudaSetDevice, qp->gpu->number);
	stop(qp);
	memset(qp->box, 0, sizeof(*qp->box));
	its.lkey = htobe32(work->lkey);
	its.rkey = htobe32(work->rkey);
	CUDA(cudaHostGetDevicePointer, (void **)&on_gpu, qp->box, 0);
	if (work->part == GPUNETIO_WRITES)
		drive<<<1, 1, 0, qp->stream>>>(qp->on_gpu, on_gpu, its, qp->posted);
	else
		ping_pong<<<1, 1, 0, qp->stream>>>(qp->on_gpu, on_gpu, its, qp->posted);
	CUDA(cudaGetLastError);
	qp->runs = true;
	*ret = qp->box;
	return 0;
}

/* mlx5's syndromes of a failed completion, which the library gives as they are. */
static int qp_status(struct gpunetio_qp *qp, uint32_t *vendor)
{
	static const struct {
		int syndrome, status;
	} known[] = {
		{ 0x01, IBV_WC_LOC_LEN_ERR },	   { 0x02, IBV_WC_LOC_QP_OP_ERR },	{ 0x04, IBV_WC_LOC_PROT_ERR },
		{ 0x05, IBV_WC_WR_FLUSH_ERR },	   { 0x06, IBV_WC_MW_BIND_ERR },	{ 0x10, IBV_WC_BAD_RESP_ERR },
		{ 0x11, IBV_WC_LOC_ACCESS_ERR },   { 0x12, IBV_WC_REM_INV_REQ_ERR },	{ 0x13, IBV_WC_REM_ACCESS_ERR },
		{ 0x14, IBV_WC_REM_OP_ERR },	   { 0x15, IBV_WC_RETRY_EXC_ERR },	{ 0x16, IBV_WC_RNR_RETRY_EXC_ERR },
		{ 0x22, IBV_WC_REM_ABORT_ERR },
	};
	struct doca_gpu_verbs_qp_error_info info;

	memset(&info, 0, sizeof(info));
	*vendor = 0;
	if (doca_gpu_verbs_query_last_error(qp->qp->qp_gverbs, &info) != DOCA_SUCCESS || !info.has_error)
		return IBV_WC_GENERAL_ERR;
	*vendor = (uint32_t)info.vendor_err_synd;
	for (const auto &row : known)
		if (row.syndrome == info.syndrome)
			return row.status;
	return IBV_WC_GENERAL_ERR;
}

extern "C" __attribute__((visibility("default"))) const struct gpunetio fabperf_gpunetio = {
	GPUNETIO_VERSION, plugin_open, plugin_close, qp_open, qp_start, qp_status, qp_close,
};
