// The plainest way out of the registers, so that the snippets are whole kernels.
#pragma once

#include "ptxk/sm90/wgmma.cuh"

// A warpgroup's 64 x (kRegisters * 2) of a row-major float matrix; what lies beyond `rows` is left out.
template <int kRegisters>
__device__ __forceinline__ void store_rows(float* to, int pitch, int row, int column, int rows, const float (&d)[kRegisters]) {
  const int thread = threadIdx.x % 128;
#pragma unroll
  for (int i = 0; i < kRegisters; ++i) {
    const int r = row + ptxk::d_row(thread, i);
    if (r < rows) {
      to[static_cast<size_t>(r) * pitch + column + ptxk::d_column(thread, i)] = d[i];
    }
  }
}
