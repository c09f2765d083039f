// Runs CUDA code on the host, for tests: enough of CUDA's runtime for the files of dtau.generate.
// A launch calls the kernel for one thread after the other.
#pragma once

#include <math.h>

#include <cstddef>
#include <cstdlib>
#include <utility>

#define __device__
#define __global__
#define __noinline__
#define __launch_bounds__(threads)

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned nx = 1, unsigned ny = 1, unsigned nz = 1) : x(nx), y(ny), z(nz) {}
};
inline dim3 blockIdx, blockDim, threadIdx;

typedef struct CUstream_st* cudaStream_t;
enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2 };

template <class... Parameters, std::size_t... k>
void call_kernel(void (*kernel)(Parameters...), void** arguments, std::index_sequence<k...>) {
    kernel(*static_cast<Parameters*>(arguments[k])...);
}

template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 blocks, dim3 threads,
                             void** arguments, std::size_t, cudaStream_t) {
    blockDim = threads;
    for (blockIdx.x = 0; blockIdx.x < blocks.x; ++blockIdx.x)
        for (threadIdx.x = 0; threadIdx.x < threads.x; ++threadIdx.x)
            call_kernel(kernel, arguments, std::index_sequence_for<Parameters...>());
    return cudaSuccess;
}

inline cudaError_t cudaMallocManaged(void** memory, std::size_t bytes) {
    *memory = std::malloc(bytes);
    return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaFree(void* memory) {
    std::free(memory);
    return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
