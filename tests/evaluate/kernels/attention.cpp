// O = softmax(Q K^T / sqrt(D)) V and its log-sum-exp, row by row, all in float32. The causal variant flips one constant.
#include <cmath>
#include <cstdint>
#include <tvm/ffi/tvm_ffi.h>
#include <vector>

constexpr bool causal = false;

void run(tvm::ffi::TensorView q, tvm::ffi::TensorView k, tvm::ffi::TensorView v, tvm::ffi::TensorView o,
         tvm::ffi::TensorView lse) {
  const int64_t heads = q.size(0) * q.size(1), s = q.size(2), d = q.size(3);
  const float scale = 1.0f / std::sqrt(static_cast<float>(d));
  std::vector<float> p(s);
  for (int64_t h = 0; h < heads; ++h) {
    const float* qs = static_cast<const float*>(q.data_ptr()) + h * s * d;
    const float* ks = static_cast<const float*>(k.data_ptr()) + h * s * d;
    const float* vs = static_cast<const float*>(v.data_ptr()) + h * s * d;
    float* os = static_cast<float*>(o.data_ptr()) + h * s * d;
    float* ls = static_cast<float*>(lse.data_ptr()) + h * s;
    for (int64_t i = 0; i < s; ++i) {
      const int64_t end = causal ? i + 1 : s;
      float top = -INFINITY, sum = 0;
      for (int64_t j = 0; j < end; ++j) {
        float dot = 0;
        for (int64_t x = 0; x < d; ++x) dot += qs[i * d + x] * ks[j * d + x];
        p[j] = dot * scale;
        top = std::fmax(top, p[j]);
      }
      for (int64_t j = 0; j < end; ++j) sum += p[j] = std::exp(p[j] - top);
      for (int64_t x = 0; x < d; ++x) os[i * d + x] = 0;
      for (int64_t j = 0; j < end; ++j)
        for (int64_t x = 0; x < d; ++x) os[i * d + x] += p[j] / sum * vs[j * d + x];
      ls[i] = top + std::log(sum);
    }
  }
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
