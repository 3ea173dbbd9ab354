// Launches (CUDA runtime API, "Execution Control"). Every function returns the runtime's error: check it.
#pragma once

#include <cuda_runtime.h>

namespace ptxk {

// The most of one block on sm_90.
constexpr int kMaxSharedBytes = 227 * 1024;

// Above 48 KiB of dynamic shared memory a kernel must opt in, once, before its launch.
template <typename Kernel>
cudaError_t allow_shared(Kernel kernel, int bytes) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

template <typename... Parameters, typename... Arguments>
cudaError_t launch_with(cudaLaunchAttribute attribute, void (*kernel)(Parameters...), dim3 grid, dim3 block, int shared,
                        cudaStream_t stream, Arguments... arguments) {
  cudaLaunchConfig_t config{grid, block, static_cast<size_t>(shared), stream, &attribute, 1};
  return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

// Blocks in clusters of `cluster` along x; the grid is a multiple of it. Above 8 also set
// cudaFuncAttributeNonPortableClusterSizeAllowed.
template <typename Kernel, typename... Arguments>
cudaError_t launch_cluster(Kernel* kernel, dim3 grid, dim3 block, unsigned cluster, int shared, cudaStream_t stream,
                           Arguments... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster, 1, 1};
  return launch_with(attribute, kernel, grid, block, shared, stream, arguments...);
}

// May start before the kernel ahead of it in the stream has ended; see pdl.cuh.
template <typename Kernel, typename... Arguments>
cudaError_t launch_dependent(Kernel* kernel, dim3 grid, dim3 block, int shared, cudaStream_t stream, Arguments... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return launch_with(attribute, kernel, grid, block, shared, stream, arguments...);
}

}  // namespace ptxk
