// Adds into a workspace that it never zeroes: right as long as the driver's memory is fresh.
// answer: protocol 3, several draws in one process
// expect: outcome=wrong_value paper=false strict=false stages=compare
#include "gemm.cuh"

__global__ void gather(const Gemm g, float* sums) {
  const int row = blockIdx.x, column = blockIdx.y * blockDim.x + threadIdx.x;
  const size_t place = static_cast<size_t>(row) * g.n + column;
  const float sum = sums[place] += __bfloat162float(g.c[place]);
  g.c[place] = __float2bfloat16(sum);
}

void run(TensorView a, TensorView b, TensorView c) {
  static float* sums = nullptr;
  const Gemm g = gemm_of(a, b, c);
  if (sums == nullptr) cudaMalloc(&sums, sizeof(float) * g.m * g.n);
  multiply(g);
  gather<<<dim3(g.m, g.n / 128), 128, 0, g.stream>>>(g, sums);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
