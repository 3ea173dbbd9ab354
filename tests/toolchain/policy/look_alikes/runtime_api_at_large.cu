// expect: paper=ok strict=ok
// The CUDA runtime in breadth.
#include <cuda_bf16.h>
#include <mma.h>
__global__ void __launch_bounds__(128) kernel(float *x) { extern __shared__ float tile[]; tile[threadIdx.x] = x[threadIdx.x]; __threadfence_system(); x[0] = tile[1]; }
extern "C" __attribute__((visibility("default"))) int run(float *x) {
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536); cudaStream_t stream; cudaStreamCreate(&stream);
    cudaLaunchConfig_t config{}; config.gridDim = 2; config.blockDim = 128; config.stream = stream; cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension; attribute[0].val.clusterDim = {2, 1, 1}; config.attrs = attribute; config.numAttrs = 1;
    float *scratch; cudaMallocAsync(&scratch, 1024, stream); cudaLaunchKernelEx(&config, kernel, x); cudaGraph_t graph; cudaGraphCreate(&graph, 0);
    cudaMemcpyAsync(x, scratch, 64, cudaMemcpyDeviceToDevice, stream); cudaOccupancyMaxActiveBlocksPerMultiprocessor((int *)&config, kernel, 128, 0);
    return cudaStreamSynchronize(stream) + cudaDeviceSynchronize();
}
