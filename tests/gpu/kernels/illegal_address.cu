// Faulty on purpose: a tiled CUDA-core GEMM that writes far outside of its output.
//
// The output is taken for one matrix of a batch with a stride that no allocation has: every store lands 128 GiB behind C. That
// is an illegal address with or without memcheck, on the first call and whatever lies beside C.

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

constexpr int kTile = 16;
constexpr size_t kBatchStride = size_t{1} << 36;  // elements of 2 bytes: 128 GiB

__global__ void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  __shared__ float tile_a[kTile][kTile + 1];
  __shared__ float tile_b[kTile][kTile + 1];
  const int row = blockIdx.x * kTile + threadIdx.y;
  const int column = blockIdx.y * kTile + threadIdx.x;
  const int row_b = blockIdx.y * kTile + threadIdx.y;
  float sum = 0;
  for (int step = 0; step < k; step += kTile) {
    const int inner = step + threadIdx.x;
    tile_a[threadIdx.y][threadIdx.x] = row < m && inner < k ? __bfloat162float(a[static_cast<size_t>(row) * k + inner]) : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] = row_b < n && inner < k ? __bfloat162float(b[static_cast<size_t>(row_b) * k + inner]) : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) {
      sum += tile_a[threadIdx.y][i] * tile_b[threadIdx.x][i];
    }
    __syncthreads();
  }
  if (row < m && column < n) {
    const size_t element = static_cast<size_t>(row) * n + column;
    c[kBatchStride + element] = __float2bfloat16_rn(sum);  // FAULT
  }
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const int m = static_cast<int>(a.size(0)), k = static_cast<int>(a.size(1)), n = static_cast<int>(b.size(0));
  const dim3 grid((m + kTile - 1) / kTile, (n + kTile - 1) / kTile);
  const auto stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(a.device().device_type, a.device().device_id));
  gemm<<<grid, dim3(kTile, kTile), 0, stream>>>(static_cast<const __nv_bfloat16*>(a.data_ptr()),
                                                static_cast<const __nv_bfloat16*>(b.data_ptr()),
                                                static_cast<__nv_bfloat16*>(c.data_ptr()), m, n, k);
  TVM_FFI_ICHECK_EQ(static_cast<int>(cudaGetLastError()), static_cast<int>(cudaSuccess)) << "launch";
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
