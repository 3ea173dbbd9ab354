// header: slim
// good: run t t
// good: dispatch h
#include <cuda_bf16.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

constexpr DLDataType kBf16{kDLBfloat, 16, 1};
constexpr DLDataType kFp32 = {kDLFloat, 32, 1};

#define CHECK_CUDA(x) TVM_FFI_CHECK((x).device().device_type == kDLCUDA, ValueError) << #x " must be on a GPU"
#define CHECK_INPUT(x) CHECK_CUDA(x); TVM_FFI_CHECK((x).IsContiguous(), ValueError) << #x " must be contiguous"

template <typename T>
__global__ void copy(const T* x, T* y) { y[threadIdx.x] = x[threadIdx.x]; }

void run(tvm::ffi::TensorView x, tvm::ffi::TensorView y) {
  CHECK_INPUT(x);
  CHECK_INPUT(y);
  TVM_FFI_ICHECK(x.dtype() == kFp32) << "x is " << x.dtype();
  TVM_FFI_ICHECK_EQ(x.dtype(), y.dtype());
  TVM_FFI_ICHECK_EQ(x.ndim(), 2) << "x has shape " << x.shape();
  TVM_FFI_ICHECK_NE(x.dtype(), kBf16) << "unexpected";
}

int dispatch(tvm::ffi::TensorView x) {
  if (x.dtype() == kBf16) return 16;
  if (x.dtype() != kFp32) TVM_FFI_THROW(TypeError) << "cannot take " << x.dtype();
  copy<<<1, 32>>>(static_cast<const float*>(x.data_ptr()), static_cast<float*>(x.data_ptr()));
  return 32;
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(dispatch, dispatch);
