/* What the GPUNetIO plug-in uses of CUDA's runtime, so that a compiler without CUDA can check it. */
#ifndef STUB_CUDA_RUNTIME_H
#define STUB_CUDA_RUNTIME_H

#include <stddef.h>

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__   __attribute__((host))

struct dim3 {
	unsigned x, y, z;
	__host__ __device__ constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz)
	{
	}
};

typedef enum { cudaSuccess = 0, cudaErrorMemoryAllocation = 2 } cudaError_t;
typedef struct CUstream_st *cudaStream_t;
enum cudaDeviceAttr { cudaDevAttrComputeCapabilityMajor = 75 };
#define cudaHostAllocMapped   2u
#define cudaStreamNonBlocking 1u

extern "C" {
cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, void *stream = 0);
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared,
			     cudaStream_t stream);
const char *cudaGetErrorString(cudaError_t code);
cudaError_t cudaGetLastError(void);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaFree(void *memory);
cudaError_t cudaDeviceGetAttribute(int *ret, enum cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetPCIBusId(char *ret, int size, int device);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *ret, unsigned flags);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaHostAlloc(void **ret, size_t size, unsigned flags);
cudaError_t cudaHostGetDevicePointer(void **ret, void *host, unsigned flags);
cudaError_t cudaFreeHost(void *memory);
}

__device__ void __threadfence_system(void);

#endif
