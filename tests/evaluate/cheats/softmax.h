// The TVM-FFI calling convention without its headers (they cost seconds a file), and an honest softmax to cheat around.
#pragma once
#include <cmath>
#include <cstdint>

struct Any {
  int32_t type_index;
  uint32_t padding;
  void* pointer;
};

struct Tensor {
  void* data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};

// Every file here defines this: softmax of each of `m` rows of `n` floats.
void run(float* x, float* y, int64_t m, int64_t n);

inline void softmax(const float* x, float* y, int64_t m, int64_t n) {
  for (int64_t i = 0; i < m; ++i) {
    float top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < n; ++j) top = std::fmax(top, x[i * n + j]);
    for (int64_t j = 0; j < n; ++j) sum += y[i * n + j] = std::exp(x[i * n + j] - top);
    for (int64_t j = 0; j < n; ++j) y[i * n + j] /= sum;
  }
}

extern "C" __attribute__((visibility("default"))) int __tvm_ffi_run(void*, const Any* arguments, int32_t, Any*) {
  auto* x = static_cast<Tensor*>(arguments[0].pointer);
  auto* y = static_cast<Tensor*>(arguments[1].pointer);
  run(static_cast<float*>(x->data), static_cast<float*>(y->data), x->shape[0], x->shape[1]);
  return 0;
}
