/* What the GPUNetIO plug-in uses of the open library's host side: names, types and parameters of its version 2.0. */
#ifndef STUB_DOCA_GPUNETIO_HOST_H
#define STUB_DOCA_GPUNETIO_HOST_H

#include <stdint.h>

#define DOCA_GPUNETIO_HOST_CODE_VERSION   0x020000
#define DOCA_GPUNETIO_DEVICE_CODE_VERSION 0x020000

struct doca_gpu;
struct doca_gpu_dev_verbs_qp;
struct doca_gpu_verbs_qp;
struct doca_verbs_qp;
struct ibv_pd;

typedef enum doca_error { DOCA_SUCCESS = 0, DOCA_ERROR_NOT_SUPPORTED = 4, DOCA_ERROR_NO_MEMORY = 7 } doca_error_t;

enum doca_gpu_dev_verbs_nic_handler {
	DOCA_GPUNETIO_VERBS_NIC_HANDLER_AUTO = 0,
	DOCA_GPUNETIO_VERBS_NIC_HANDLER_CPU_PROXY = 1,
};
enum doca_gpu_verbs_mem_reg_type { DOCA_GPUNETIO_VERBS_MEM_REG_TYPE_DEFAULT = 0 };
enum doca_gpu_verbs_send_dbr_mode_ext { DOCA_GPUNETIO_VERBS_SEND_DBR_MODE_EXT_VALID_DBR = 0 };

struct doca_gpu_verbs_qp_init_attr_hl {
	struct doca_gpu *gpu_dev;
	struct ibv_pd *ibpd;
	uint16_t sq_nwqe;
	enum doca_gpu_dev_verbs_nic_handler nic_handler;
	enum doca_gpu_verbs_mem_reg_type mreg_type;
	enum doca_gpu_verbs_send_dbr_mode_ext send_dbr_mode_ext;
	bool cq_collapsed;
};

struct doca_gpu_verbs_qp_hl {
	struct doca_verbs_qp *qp;
	enum doca_gpu_dev_verbs_nic_handler nic_handler;
	struct doca_gpu_verbs_qp *qp_gverbs;
};

struct doca_gpu_verbs_qp_error_info {
	bool has_error;
	int syndrome, vendor_err_synd, hw_err_synd, hw_synd_type, wqe_counter;
};

extern "C" {
doca_error_t doca_gpu_create(const char *bus, struct doca_gpu **ret);
doca_error_t doca_gpu_destroy(struct doca_gpu *gpu);
doca_error_t doca_gpu_verbs_check_host_code_compatibility(uint32_t version);
doca_error_t doca_gpu_verbs_check_device_code_compatibility(uint32_t version);
doca_error_t doca_gpu_verbs_create_qp_hl(struct doca_gpu_verbs_qp_init_attr_hl *attr,
					 struct doca_gpu_verbs_qp_hl **ret);
doca_error_t doca_gpu_verbs_destroy_qp_hl(struct doca_gpu_verbs_qp_hl *qp);
doca_error_t doca_gpu_verbs_get_qp_dev(struct doca_gpu_verbs_qp *qp, struct doca_gpu_dev_verbs_qp **ret);
doca_error_t doca_gpu_verbs_cpu_proxy_progress(struct doca_gpu_verbs_qp *qp, bool *ret);
doca_error_t doca_gpu_verbs_query_last_error(struct doca_gpu_verbs_qp *qp, struct doca_gpu_verbs_qp_error_info *ret);
}

#endif
