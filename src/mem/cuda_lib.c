/* Opens CUDA's driver library and says in words why one of its calls failed. */
#include "mem/cuda_lib.h"

#include "base/error.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	size_t offset;
	bool optional;
} symbols[] = {
	{ "cuInit", offsetof(struct cuda, init), false },
	{ "cuGetErrorName", offsetof(struct cuda, error_name), false },
	{ "cuDriverGetVersion", offsetof(struct cuda, driver_version), false },
	{ "cuDeviceGetCount", offsetof(struct cuda, device_count), false },
	{ "cuDeviceGet", offsetof(struct cuda, device_get), false },
	{ "cuDeviceGetName", offsetof(struct cuda, device_name), false },
	{ "cuDeviceGetAttribute", offsetof(struct cuda, attribute), false },
	{ "cuDevicePrimaryCtxRetain", offsetof(struct cuda, retain), false },
	{ "cuDevicePrimaryCtxRelease_v2", offsetof(struct cuda, release), false },
	{ "cuCtxSetCurrent", offsetof(struct cuda, set_current), false },
	{ "cuCtxSynchronize", offsetof(struct cuda, synchronize), false },
	{ "cuMemAlloc_v2", offsetof(struct cuda, alloc), false },
	{ "cuMemFree_v2", offsetof(struct cuda, free), false },
	{ "cuMemsetD8_v2", offsetof(struct cuda, fill), false },
	{ "cuMemGetHandleForAddressRange", offsetof(struct cuda, range_handle), true },
};

/* By CUDA's numbers; the first that fits. */
static const struct {
	int code, ret;
	const char *cause;
} causes[] = {
	{ 1, -EINVAL, "the driver does not take what was asked of it: it may be too old" },
	{ 2, -ENOMEM,
	  "the GPU's memory is full, other programs' included: see nvidia-smi, give a smaller --working_set" },
	{ 34, -ENODEV, "this is the toolkit's stub library: give --cuda_lib_path of the driver's own" },
	{ 46, -EBUSY, "another process has the GPU for itself (exclusive compute mode: nvidia-smi -c DEFAULT)" },
	{ 100, -ENODEV, "no GPU is visible: see nvidia-smi, CUDA_VISIBLE_DEVICES and the container's devices" },
	{ 101, -ENODEV, "there is no GPU of this number: see nvidia-smi and CUDA_VISIBLE_DEVICES" },
	{ 205, -EOPNOTSUPP, "the driver cannot map this memory" },
	{ 214, -EIO, "the GPU's memory has an error that cannot be corrected: reset the GPU" },
	{ 304, -EIO, "the kernel refused: see its log and the limits of this process" },
	{ 719, -EIO, "the GPU has failed: see the kernel's log (Xid)" },
	{ 800, -EPERM, "this user or container is not permitted to" },
	{ 801, -EOPNOTSUPP, "the driver cannot: dmabufs need its open kernel modules and CUDA 11.7" },
	{ 802, -EAGAIN, "the system is not ready: is the fabric manager running?" },
	{ 803, -ENODEV, "libcuda and the kernel's driver are of different versions: load the module again or restart" },
	{ 804, -ENODEV, "libcuda's forward compatibility does not know this GPU: use the driver's own libcuda" },
	{ 999, -EIO, "the kernel's driver does not answer: see nvidia-smi and whether /dev/nvidia* may be opened" },
};

const char *cuda_error(const struct cuda *cuda, int code, char *ret)
{
	const char *name = NULL;

	if (cuda->error_name(code, &name) || !name)
		snprintf(ret, 64, "code %d", code);
	else
		snprintf(ret, 64, "%.48s", name);
	return ret;
}

int cuda_fail(const struct cuda *cuda, int code, const char *call, struct error *err, const char *format, ...)
{
	const char *cause = "see nvidia-smi and the kernel's log";
	char what[256], name[64];
	int ret = -EIO;
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		if (causes[i].code == code) {
			cause = causes[i].cause;
			ret = causes[i].ret;
			break;
		}
	}
	return error_set(err, ret, "%s (%s): %s; %s", what, call, cuda_error(cuda, code, name), cause);
}

static int load(const char *path, struct cuda *ret, struct error *err)
{
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *symbol = dlsym(ret->handle, symbols[i].name);

		if (!symbol && !symbols[i].optional)
			return error_set(err, -ENOSYS,
					 "%s has no function %s: it is not CUDA's driver library, or too old (CUDA 11 "
					 "is needed)",
					 path, symbols[i].name);
		memcpy((char *)ret + symbols[i].offset, &symbol, sizeof(symbol));
	}
	return 0;
}

int cuda_open(const char *folder, struct cuda *ret, struct error *err)
{
	char path[512];
	int rc;

	snprintf(path, sizeof(path), "%s%slibcuda.so.1", folder, *folder ? "/" : "");
	*ret = (struct cuda){ .handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) };
	if (!ret->handle)
		return error_set(err, -ENOENT,
				 "CUDA memory needs libcuda.so.1 of NVIDIA's driver, which cannot be opened (%.200s): "
				 "install the driver, or name its folder by --cuda_lib_path",
				 dlerror());
	rc = load(path, ret, err);
	if (rc == 0) {
		int code = ret->init(0);

		rc = code ? cuda_fail(ret, code, "cuInit", err, "CUDA does not start") : 0;
	}
	if (rc)
		cuda_close(ret);
	return rc;
}

void cuda_close(struct cuda *cuda)
{
	if (cuda->handle)
		dlclose(cuda->handle);
	cuda->handle = NULL;
}
