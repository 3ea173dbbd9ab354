// header: slim
// good: run t
#include <tvm/ffi/tvm_ffi.h>

namespace {

constexpr int kThreads = 64;

__device__ __noinline__ float bend(float x) { return x > 0 ? sqrtf(x) : -x; }

__global__ void kernel(float* p, int n) {
  for (int i = threadIdx.x; i < n; i += kThreads) p[i] = bend(p[i]);
}

void check(const tvm::ffi::TensorView& x) { TVM_FFI_ICHECK_GT(x.numel(), 8) << "too small"; }

void run(tvm::ffi::TensorView x) {
  check(x);
  kernel<<<1, kThreads>>>(static_cast<float*>(x.data_ptr()), static_cast<int>(x.numel()));
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
