// Faulty on purpose: a GEMM whose host code follows a null pointer before it launches anything, so that its process dies of SIGSEGV.

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

__global__ void gemm(__nv_bfloat16* c, int value) { c[0] = __float2bfloat16(static_cast<float>(value)); }

struct Plan {
  int tiles;
};

// The plan of a shape that nobody has tuned: none.
__attribute__((noinline)) static const volatile Plan* find_plan(int64_t m) {
  static const volatile Plan known{64};
  return m < 0 ? &known : nullptr;
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  (void)b;
  const auto stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(a.device().device_type, a.device().device_id));
  const int tiles = find_plan(a.size(0))->tiles;  // FAULT
  gemm<<<1, 1, 0, stream>>>(static_cast<__nv_bfloat16*>(c.data_ptr()), tiles);
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
