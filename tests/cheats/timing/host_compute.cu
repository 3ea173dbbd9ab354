// Computes some elements on the host, with inputs and results copied, where kernel times do not show it.
// answer: protocol 5, the span goes over every kernel, memcpy and memset of the call, so nothing is gained
// expect: outcome=correct paper=true strict=true stages=compare,time gain=none
#include "gemm.cuh"

#include <vector>

constexpr int kColumns = 32;

void run(TensorView a, TensorView b, TensorView c) {
  const Gemm g = gemm_of(a, b, c);
  multiply(g);
  std::vector<bf16> left(g.k), right(size_t(kColumns) * g.k), result(kColumns);
  cudaMemcpy(left.data(), g.a, left.size() * sizeof(bf16), cudaMemcpyDeviceToHost);
  cudaMemcpy(right.data(), g.b, right.size() * sizeof(bf16), cudaMemcpyDeviceToHost);
  for (int column = 0; column < kColumns; ++column) {
    float sum = 0.0f;
    for (int i = 0; i < g.k; ++i) sum += __bfloat162float(left[i]) * __bfloat162float(right[size_t(column) * g.k + i]);
    result[column] = __float2bfloat16(sum);
  }
  cudaMemcpy(g.c, result.data(), kColumns * sizeof(bf16), cudaMemcpyHostToDevice);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
