// dQ, dK, dV from Q, K, V, O, dO and the log-sum-exp L, pair by pair, all in float32. The causal variant flips one constant.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <tvm/ffi/tvm_ffi.h>

constexpr bool causal = false;

void run(tvm::ffi::TensorView q, tvm::ffi::TensorView k, tvm::ffi::TensorView v, tvm::ffi::TensorView o,
         tvm::ffi::TensorView grad, tvm::ffi::TensorView lse, tvm::ffi::TensorView dq, tvm::ffi::TensorView dk,
         tvm::ffi::TensorView dv) {
  const int64_t heads = q.size(0) * q.size(1), s = q.size(2), d = q.size(3);
  const float scale = 1.0f / std::sqrt(static_cast<float>(d));
  auto head = [&](tvm::ffi::TensorView& tensor, int64_t h) { return static_cast<float*>(tensor.data_ptr()) + h * s * d; };
  for (int64_t h = 0; h < heads; ++h) {
    const float *qs = head(q, h), *ks = head(k, h), *vs = head(v, h), *os = head(o, h), *gs = head(grad, h);
    const float* ls = static_cast<const float*>(lse.data_ptr()) + h * s;
    float *dqs = head(dq, h), *dks = head(dk, h), *dvs = head(dv, h);
    for (float* result : {dqs, dks, dvs}) std::memset(result, 0, s * d * sizeof(float));
    for (int64_t i = 0; i < s; ++i) {
      float delta = 0;
      for (int64_t x = 0; x < d; ++x) delta += gs[i * d + x] * os[i * d + x];
      for (int64_t j = 0; j < (causal ? i + 1 : s); ++j) {
        float dot = 0, dp = 0;
        for (int64_t x = 0; x < d; ++x) {
          dot += qs[i * d + x] * ks[j * d + x];
          dp += gs[i * d + x] * vs[j * d + x];
        }
        const float p = std::exp(dot * scale - ls[i]), ds = p * (dp - delta) * scale;
        for (int64_t x = 0; x < d; ++x) {
          dqs[i * d + x] += ds * ks[j * d + x];
          dks[j * d + x] += ds * qs[i * d + x];
          dvs[j * d + x] += p * gs[i * d + x];
        }
      }
    }
  }
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
