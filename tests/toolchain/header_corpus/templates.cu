// header: slim
// good: run t t i
#include <cuda_fp16.h>
#include <tvm/ffi/tvm_ffi.h>
#include <type_traits>

template <typename T, int kBlock, bool kCausal>
__global__ void __launch_bounds__(kBlock) step(const T* __restrict__ x, T* __restrict__ y, int n) {
  __shared__ T tile[kBlock];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : T(0);
  __syncthreads();
  if constexpr (kCausal) {
    if (i < n) y[i] = tile[kBlock - 1 - threadIdx.x];
  } else {
    if (i < n) y[i] = tile[threadIdx.x] + tile[0];
  }
}

template <typename T>
struct Launcher {
  tvm::ffi::TensorView x, y;
  template <int kBlock>
  void go(bool causal) const {
    static_assert(std::is_trivially_copyable_v<T>);
    const int n = static_cast<int>(x.numel());
    if (causal) step<T, kBlock, true><<<(n + kBlock - 1) / kBlock, kBlock>>>(static_cast<const T*>(x.data_ptr()), static_cast<T*>(y.data_ptr()), n);
    else step<T, kBlock, false><<<(n + kBlock - 1) / kBlock, kBlock>>>(static_cast<const T*>(x.data_ptr()), static_cast<T*>(y.data_ptr()), n);
  }
};

void run(tvm::ffi::TensorView x, tvm::ffi::TensorView y, int causal) {
  if (x.dtype().bits == 16) Launcher<__half>{x, y}.go<128>(causal != 0);
  else Launcher<float>{x, y}.go<256>(causal != 0);
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
