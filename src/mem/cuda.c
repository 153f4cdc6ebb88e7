/* Data buffers in a GPU's memory, through CUDA's driver library. */
#include "base/error.h"
#include "mem/cuda_lib.h"
#include "mem/gpu.h"
#include "mem/mem.h"
#include "spec/result.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define GPUS_MAX 256

struct gpu {
	int device;
	char name[40], pci[24];
	enum gpu_distance distance;
};

struct cuda_mem {
	struct cuda lib;
	struct gpu gpu;
	unsigned gpus; /* there are */
	bool asked; /* for this one */
	char nic[SPEC_NAME];
	void *context; /* primary one of the GPU */
	uint64_t allocated; /* what cuMemAlloc gave */
	size_t size; /* from base on: whole pages of the GPU */
};

static int attribute(const struct cuda *lib, int device, int which, int *ret, struct error *err)
{
	int code = lib->attribute(ret, which, device);

	return code ? cuda_fail(lib, code, "cuDeviceGetAttribute", err, "cannot ask a GPU for its properties") : 0;
}

/* Its name and place; of the number-th GPU. */
static int inspect(const struct cuda *lib, int number, struct gpu *ret, struct error *err)
{
	int domain = 0, bus = 0, slot = 0, code = lib->device_get(&ret->device, number), rc;

	if (code)
		return cuda_fail(lib, code, "cuDeviceGet", err, "cannot take GPU %d", number);
	code = lib->device_name(ret->name, sizeof(ret->name), ret->device);
	if (code)
		return cuda_fail(lib, code, "cuDeviceGetName", err, "cannot ask GPU %d for its name", number);
	rc = attribute(lib, ret->device, CUDA_ATTRIBUTE_PCI_DOMAIN, &domain, err);
	if (!rc)
		rc = attribute(lib, ret->device, CUDA_ATTRIBUTE_PCI_BUS, &bus, err);
	if (!rc)
		rc = attribute(lib, ret->device, CUDA_ATTRIBUTE_PCI_DEVICE, &slot, err);
	snprintf(ret->pci, sizeof(ret->pci), "%04x:%02x:%02x.0", (unsigned)domain, (unsigned)bus, (unsigned)slot);
	return rc;
}

static int count_gpus(const struct cuda *lib, unsigned *ret, struct error *err)
{
	int count = 0, code = lib->device_count(&count);

	if (code)
		return cuda_fail(lib, code, "cuDeviceGetCount", err, "cannot count this host's GPUs");
	if (count <= 0)
		return error_set(err, -ENODEV, "CUDA sees no GPU: see nvidia-smi and CUDA_VISIBLE_DEVICES");
	*ret = count < GPUS_MAX ? (unsigned)count : GPUS_MAX;
	return 0;
}

/* The nearest to the device, in turn for more workers; or the one asked for. Sets mem->gpu. */
static int choose(const struct mem_conf *conf, struct mem *mem, struct error *err)
{
	enum gpu_distance distance[GPUS_MAX];
	struct cuda_mem *cuda = mem->cuda;
	const uint64_t asked = conf->spec->gpu;
	int rc = count_gpus(&cuda->lib, &cuda->gpus, err);

	if (rc)
		return rc;
	if (asked != SPEC_AUTO && asked >= cuda->gpus)
		return error_set(err, -ENODEV, "--gpu %llu: CUDA sees %u GPU%s on this host, numbered from 0",
				 (unsigned long long)asked, cuda->gpus, cuda->gpus == 1 ? "" : "s");
	for (unsigned i = 0; rc == 0 && i < cuda->gpus; i++) {
		struct gpu gpu = { 0 };

		rc = inspect(&cuda->lib, (int)i, &gpu, err);
		distance[i] = gpu_distance(conf->host->sysfs, conf->device, gpu.pci);
	}
	if (rc)
		return rc;
	cuda->asked = asked != SPEC_AUTO;
	mem->gpu = (int)(cuda->asked ? asked : gpu_pick(distance, cuda->gpus, conf->worker));
	cuda->gpu.distance = distance[mem->gpu];
	return inspect(&cuda->lib, mem->gpu, &cuda->gpu, err);
}

/* The GPU's primary context, which all of this process share, becomes the calling thread's. */
static int enter(struct mem *mem, struct error *err)
{
	struct cuda_mem *cuda = mem->cuda;
	int integrated = 0, code, rc;

	rc = attribute(&cuda->lib, cuda->gpu.device, CUDA_ATTRIBUTE_INTEGRATED, &integrated, err);
	if (rc)
		return rc;
	if (integrated)
		return error_set(err, -EOPNOTSUPP,
				 "GPU %d (%s) is integrated: its memory is the host's, which a NIC reaches by -M host",
				 mem->gpu, cuda->gpu.name);
	code = cuda->lib.retain(&cuda->context, cuda->gpu.device);
	if (code) {
		cuda->context = NULL;
		return cuda_fail(&cuda->lib, code, "cuDevicePrimaryCtxRetain", err, "cannot use GPU %d (%s)", mem->gpu,
				 cuda->gpu.name);
	}
	code = cuda->lib.set_current(cuda->context);
	return code ? cuda_fail(&cuda->lib, code, "cuCtxSetCurrent", err, "cannot use GPU %d", mem->gpu) : 0;
}

/* Whole pages of the GPU, from the first on that begins in what was allocated; zeroed. */
static int allocate(struct mem *mem, struct error *err)
{
	struct cuda_mem *cuda = mem->cuda;
	const char *call = "cuMemAlloc";
	int code;

	cuda->size = (mem->size + CUDA_PAGE - 1) / CUDA_PAGE * CUDA_PAGE;
	code = cuda->lib.alloc(&cuda->allocated, cuda->size + CUDA_PAGE);
	if (code) {
		cuda->allocated = 0;
	} else {
		mem->base = (cuda->allocated + CUDA_PAGE - 1) / CUDA_PAGE * CUDA_PAGE;
		call = "cuMemsetD8";
		code = cuda->lib.fill(mem->base, 0, cuda->size);
	}
	if (!code) {
		call = "cuCtxSynchronize";
		code = cuda->lib.synchronize();
	}
	return code ? cuda_fail(&cuda->lib, code, call, err, "cannot allocate %zu bytes of GPU %d's memory", cuda->size,
				mem->gpu)
		    : 0;
}

static int cuda_alloc(const struct mem_conf *conf, struct mem *mem, struct error *err)
{
	int rc;

	mem->cuda = calloc(1, sizeof(*mem->cuda));
	if (!mem->cuda)
		return error_set(err, -ENOMEM, "no memory");
	snprintf(mem->cuda->nic, sizeof(mem->cuda->nic), "%s", conf->device ? conf->device : "");
	rc = cuda_open(conf->host->cuda_lib_path ? conf->host->cuda_lib_path : "", &mem->cuda->lib, err);
	if (!rc)
		rc = choose(conf, mem, err);
	if (!rc)
		rc = enter(mem, err);
	return rc ? rc : allocate(mem, err);
}

/* What cannot be given back now goes with the process. */
static void cuda_release(struct mem *mem)
{
	struct cuda_mem *cuda = mem->cuda;

	if (!cuda)
		return;
	if (cuda->allocated && cuda->lib.set_current(cuda->context) == 0)
		cuda->lib.free(cuda->allocated);
	if (cuda->context)
		cuda->lib.release(cuda->gpu.device);
	cuda_close(&cuda->lib);
	free(cuda);
}

/* A call of CUDA's failed on the way to a dmabuf. */
static int no_dmabuf(struct mem *mem, enum mem_way way, int code, const char *call, struct error *err)
{
	char name[64];

	mem_note(mem, way, "%s: %s", call, cuda_error(&mem->cuda->lib, code, name));
	return cuda_fail(&mem->cuda->lib, code, call, err, "cannot make a dmabuf of %zu bytes of GPU %d's memory",
			 mem->cuda->size, mem->gpu);
}

static int check_dmabuf(struct mem *mem, enum mem_way way, struct error *err)
{
	const struct cuda_mem *cuda = mem->cuda;
	int supported = 0, version = 0, code;

	code = cuda->lib.driver_version(&version);
	if (code)
		return no_dmabuf(mem, way, code, "cuDriverGetVersion", err);
	code = cuda->lib.attribute(&supported, CUDA_ATTRIBUTE_DMA_BUF, cuda->gpu.device);
	if (code)
		return no_dmabuf(mem, way, code, "cuDeviceGetAttribute", err);
	if (!supported || !cuda->lib.range_handle) {
		mem_note(mem, way, "GPU %d offers no dmabuf", mem->gpu);
		return error_set(err, -EOPNOTSUPP,
				 "GPU %d (%s) offers no dmabuf: that needs CUDA 11.7 and the driver's open kernel "
				 "modules; this driver is for CUDA %d.%d",
				 mem->gpu, cuda->gpu.name, version / 1000, version % 1000 / 10);
	}
	if (way == MEM_BY_DATA_DIRECT && version < CUDA_VERSION_OF_MAPPING_PCIE) {
		mem_note(mem, way, "the driver is for CUDA %d.%d: 12.8 is needed", version / 1000, version % 1000 / 10);
		return error_set(err, -EOPNOTSUPP,
				 "data direct needs a driver for CUDA 12.8: this one is for CUDA %d.%d", version / 1000,
				 version % 1000 / 10);
	}
	return 0;
}

static int offer_dmabuf(struct mem *mem, enum mem_way way, int *ret_fd, struct error *err)
{
	const struct cuda_mem *cuda = mem->cuda;
	const unsigned long long flags = way == MEM_BY_DATA_DIRECT ? CUDA_RANGE_FLAG_MAPPING_PCIE : 0;
	int rc = check_dmabuf(mem, way, err), code;

	if (rc)
		return rc;
	code = cuda->lib.range_handle(ret_fd, mem->base, cuda->size, CUDA_RANGE_DMA_BUF_FD, flags);
	return code ? no_dmabuf(mem, way, code, "cuMemGetHandleForAddressRange", err) : 0;
}

static int offer_peermem(struct mem *mem, struct error *err)
{
	static const char *const modules[] = { "module/nvidia_peermem", "kernel/mm/memory_peers/nv_mem" };

	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
		char path[SPEC_TEXT + 64];
		struct stat st;

		snprintf(path, sizeof(path), "%s/%s", mem->host.sysfs, modules[i]);
		if (stat(path, &st) == 0)
			return 0;
	}
	mem_note(mem, MEM_BY_PEERMEM, "the kernel module nvidia_peermem is not loaded");
	return error_set(
		err, -ENODEV,
		"the kernel module nvidia_peermem is not loaded, without which a NIC cannot resolve addresses of "
		"a GPU: 'modprobe nvidia_peermem', or use -M cuda_dmabuf");
}

static int cuda_offer(struct mem *mem, enum mem_way way, int *ret_fd, struct error *err)
{
	*ret_fd = -1;
	return way == MEM_BY_PEERMEM ? offer_peermem(mem, err) : offer_dmabuf(mem, way, ret_fd, err);
}

static void cuda_facts(const struct mem *mem, struct facts *ret)
{
	const struct cuda_mem *cuda = mem->cuda;

	facts_add(ret, "gpu", "GPU of the first worker", "%d: %s, %s", mem->gpu, cuda->gpu.name, cuda->gpu.pci);
	if (cuda->gpu.distance == GPU_UNKNOWN)
		facts_add(ret, "gpuDistance", "GPU to RDMA device", "unknown (no place of %s on PCIe)", cuda->nic);
	else
		facts_add(ret, "gpuDistance", "GPU to RDMA device", "%s", gpu_distance_name(cuda->gpu.distance));
	if (cuda->asked)
		facts_add(ret, "gpuChoice", "GPU chosen", "as asked for, of %u", cuda->gpus);
	else if (cuda->gpu.distance == GPU_UNKNOWN)
		facts_add(ret, "gpuChoice", "GPU chosen", "the first in turn of %u", cuda->gpus);
	else
		facts_add(ret, "gpuChoice", "GPU chosen", "the nearest by PCIe, the least loaded of these, of %u",
			  cuda->gpus);
}

#define DIRECT  MEM_WAY(MEM_BY_DATA_DIRECT)
#define DMABUF  MEM_WAY(MEM_BY_DMABUF)
#define PEERMEM MEM_WAY(MEM_BY_PEERMEM)
#define CUDA_KIND(of, by)                                                                                              \
	{                                                                                                              \
		.kind = of, .name = "CUDA memory", .ways = by, .alloc = cuda_alloc, .release = cuda_release,           \
		.offer = cuda_offer, .facts = cuda_facts,                                                              \
	}

const struct mem_kind_row mem_kind_cuda = CUDA_KIND(MEM_CUDA, DIRECT | DMABUF | PEERMEM);
const struct mem_kind_row mem_kind_cuda_auto = CUDA_KIND(MEM_CUDA_AUTO_DETECT, DIRECT | DMABUF | PEERMEM);
const struct mem_kind_row mem_kind_cuda_peermem = CUDA_KIND(MEM_CUDA_PEERMEM, PEERMEM);
const struct mem_kind_row mem_kind_cuda_dmabuf = CUDA_KIND(MEM_CUDA_DMABUF, DMABUF);
const struct mem_kind_row mem_kind_cuda_data_direct = CUDA_KIND(MEM_CUDA_DATA_DIRECT, DIRECT);
