// C[M,N] = A[M,K] * B[N,K]^T in bfloat16 with float32 sums and one rounding to nearest, ties to even.
#include <cstdint>
#include <cstring>
#include <tvm/ffi/tvm_ffi.h>

static float widen(uint16_t value) {
  const uint32_t bits = static_cast<uint32_t>(value) << 16;
  float wide;
  std::memcpy(&wide, &bits, sizeof wide);
  return wide;
}

static uint16_t narrow(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const int64_t m = a.size(0), k = a.size(1), n = b.size(0);
  TVM_FFI_ICHECK_EQ(c.size(0), m);
  TVM_FFI_ICHECK_EQ(c.size(1), n);
  const auto* left = static_cast<const uint16_t*>(a.data_ptr());
  const auto* right = static_cast<const uint16_t*>(b.data_ptr());
  auto* out = static_cast<uint16_t*>(c.data_ptr());
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t t = 0; t < k; ++t) sum += widen(left[i * k + t]) * widen(right[j * k + t]);
      out[i * n + j] = narrow(sum);
    }
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
