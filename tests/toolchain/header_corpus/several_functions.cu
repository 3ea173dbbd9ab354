// header: slim
// good: run t
// good: forward t t
// good: backward t t t
// good: version
#include <tvm/ffi/tvm_ffi.h>

__global__ void first(float* p) { p[threadIdx.x] += 1; }
__global__ void second(float* p) { p[threadIdx.x] *= 3; }

namespace kernels {
int forward(tvm::ffi::TensorView x, tvm::ffi::TensorView y) {
  first<<<1, 32>>>(static_cast<float*>(y.data_ptr()));
  return x.ndim() + y.ndim();
}
struct Backward {
  static void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
    second<<<1, 32>>>(static_cast<float*>(c.data_ptr()));
    TVM_FFI_ICHECK_EQ(a.numel(), b.numel());
  }
};
}  // namespace kernels

int version() { return 3; }
void run(tvm::ffi::TensorView x) { kernels::forward(x, x); }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(forward, kernels::forward);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(backward, kernels::Backward::run);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(version, version);
TVM_FFI_DLL_EXPORT_TYPED_FUNC_DOC(version, "the version");
extern "C" __attribute__((visibility("default"))) int exported_by_hand() { return 7; }
