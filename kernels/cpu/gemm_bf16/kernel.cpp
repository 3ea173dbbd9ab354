// C[M,N] = A[M,K] * B[N,K]^T on the host: bf16 in, float32 accumulation, bf16 out.
//
// Both operands are widened to float32 once. A block of kRows rows of A then meets one row of B at a time: the row of B
// stays in L1 while it is used kRows times, and the inner loop over K is a plain dot product that vectorises.

#include <tvm/ffi/tvm_ffi.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

constexpr int64_t kRows = 8;
constexpr int64_t kLanes = 16;  // independent partial sums, so that the compiler may vectorise without reordering

static float widen(uint16_t bits) {
  const uint32_t word = static_cast<uint32_t>(bits) << 16;  // bf16 is the upper half of a float32
  float value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

static uint16_t narrow(float value) {
  uint32_t word;
  std::memcpy(&word, &value, sizeof word);
  if ((word & 0x7FFFFFFFu) > 0x7F800000u) {
    return static_cast<uint16_t>(word >> 16 | 0x40u);  // keep NaN a NaN
  }
  word += 0x7FFFu + (word >> 16 & 1u);  // round to nearest, ties to even
  return static_cast<uint16_t>(word >> 16);
}

static std::vector<float> widened(const tvm::ffi::TensorView& matrix) {
  const auto* bits = static_cast<const uint16_t*>(matrix.data_ptr());
  std::vector<float> values(static_cast<size_t>(matrix.size(0) * matrix.size(1)));
  std::transform(bits, bits + values.size(), values.begin(), widen);
  return values;
}

static float dot(const float* x, const float* y, int64_t k) {
  float partial[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= k; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      partial[lane] += x[i + lane] * y[i + lane];
    }
  }
  float sum = 0.0f;
  for (const float value : partial) {
    sum += value;
  }
  for (; i < k; ++i) {
    sum += x[i] * y[i];
  }
  return sum;
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const int64_t m = a.size(0);
  const int64_t k = a.size(1);
  const int64_t n = b.size(0);
  const std::vector<float> left = widened(a);
  const std::vector<float> right = widened(b);
  auto* out = static_cast<uint16_t*>(c.data_ptr());
  for (int64_t row = 0; row < m; row += kRows) {
    for (int64_t column = 0; column < n; ++column) {
      for (int64_t r = row; r < std::min(m, row + kRows); ++r) {
        out[r * n + column] = narrow(dot(&left[r * k], &right[column * k], k));
      }
    }
  }
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
