// A barrier of the whole grid (PTX ISA, "atom", "ld", "Memory Consistency Model"), for kernels whose phases read what other blocks
// wrote. All blocks must be resident at once: launch_cooperative refuses a grid of which that is not true.
#pragma once

#include <cstdint>

#include "launch.cuh"

namespace ptxk {

// By all threads of all blocks; what anyone wrote before it is visible behind it. `tickets` is one word of global memory, 0 before
// every launch. A block waits for the end of the round that its own ticket is of, so it cannot miss it.
//@ptxk ptx="atom.acq_rel.gpu.global.add.u32" sass="ATOMG.E.ADD.STRONG.GPU" contracts=grid-barrier
__device__ __forceinline__ void grid_barrier(uint32_t* tickets) {
  __syncthreads();
  if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
    const uint32_t blocks = gridDim.x * gridDim.y * gridDim.z;
    uint32_t ticket, drawn;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(ticket) : "l"(__cvta_generic_to_global(tickets)) : "memory");
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(drawn) : "l"(__cvta_generic_to_global(tickets)) : "memory");
    } while (drawn - (ticket - ticket % blocks) < blocks);
  }
  __syncthreads();
}

// cudaErrorCooperativeLaunchTooLarge above SMs x cudaOccupancyMaxActiveBlocksPerMultiprocessor blocks.
template <typename Kernel, typename... Arguments>
cudaError_t launch_cooperative(Kernel* kernel, dim3 grid, dim3 block, int shared, cudaStream_t stream, Arguments... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  return launch_with(attribute, kernel, grid, block, shared, stream, arguments...);
}

}  // namespace ptxk
