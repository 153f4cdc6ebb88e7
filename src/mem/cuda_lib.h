/* CUDA's driver library as this program uses it: opened at run time, so that nothing needs it who has no GPU. */
#ifndef MEM_CUDA_LIB_H
#define MEM_CUDA_LIB_H

#include <stddef.h>
#include <stdint.h>

struct error;

/* Numbers of its interface. */
#define CUDA_ATTRIBUTE_INTEGRATED    18
#define CUDA_ATTRIBUTE_PCI_BUS       33
#define CUDA_ATTRIBUTE_PCI_DEVICE    34
#define CUDA_ATTRIBUTE_PCI_DOMAIN    50
#define CUDA_ATTRIBUTE_DMA_BUF       124
#define CUDA_RANGE_DMA_BUF_FD        1
#define CUDA_RANGE_FLAG_MAPPING_PCIE 1u
#define CUDA_VERSION_OF_MAPPING_PCIE 12080
#define CUDA_PAGE                    65536u /* of its memory: what a NIC maps at once */

/* A function returns 0 or a code of its own; device, context, pointer are int, void *, uint64_t. */
struct cuda {
	void *handle;
	int (*init)(unsigned flags);
	int (*error_name)(int code, const char **ret);
	int (*driver_version)(int *ret);
	int (*device_count)(int *ret);
	int (*device_get)(int *ret, int number);
	int (*device_name)(char *ret, int size, int device);
	int (*attribute)(int *ret, int attribute, int device);
	int (*retain)(void **ret, int device);
	int (*release)(int device);
	int (*set_current)(void *context);
	int (*synchronize)(void);
	int (*alloc)(uint64_t *ret, size_t size);
	int (*free)(uint64_t pointer);
	int (*fill)(uint64_t pointer, unsigned char byte, size_t size);
	int (*range_handle)(void *ret, uint64_t pointer, size_t size, int type,
			    unsigned long long flags); /* NULL: a driver before CUDA 11.7 */
};

/* Opens libcuda.so.1 in a folder (empty: where the loader looks) and starts it. */
int cuda_open(const char *folder, struct cuda *ret, struct error *err);
void cuda_close(struct cuda *cuda);

/* Its name of a code, "CUDA_ERROR_OUT_OF_MEMORY". ret of 64 bytes. */
const char *cuda_error(const struct cuda *cuda, int code, char *ret);
/* What failed, the call, CUDA's name of the code and the likely cause; -EIO, -ENOMEM, -ENODEV or -EOPNOTSUPP. */
int cuda_fail(const struct cuda *cuda, int code, const char *call, struct error *err, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

#endif
