// header: slim
// good: run t
#include <cuda/ptx>
#include <tvm/ffi/tvm_ffi.h>

namespace ptx = cuda::ptx;

__global__ void bulk(const float* x, float* y) {
  __shared__ alignas(128) float tile[32];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&barrier, 1);
    ptx::fence_proxy_async(ptx::space_shared);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, x, sizeof(tile), &barrier);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier, sizeof(tile));
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&barrier, 0)) {}
  y[threadIdx.x] = tile[threadIdx.x];
}

void run(tvm::ffi::TensorView x) {
  auto* p = static_cast<float*>(x.data_ptr());
  bulk<<<1, 32>>>(p, p);
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
