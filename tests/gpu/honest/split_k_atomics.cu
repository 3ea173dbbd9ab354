// Split-K: four CTAs a tile add their part to float32 sums by atomics, in memory of this call; a second kernel rounds.
// expect: outcome=correct proof=qualified work_share=in

#include "hopper.cuh"

using Shape = Tile<128, 2, 4>;
constexpr int kSplits = 4;

__global__ void __launch_bounds__(Shape::kThreads, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, float* sums, int m, int n, int k) {
  extern __shared__ uint8_t raw[];
  auto& shared = aligned_shared<Shape::Shared>(raw);
  const int row = blockIdx.x * Shape::kM, column = blockIdx.y * Shape::kN;
  const int steps = k / kTileK;
  const int from = steps * blockIdx.z / kSplits, to = steps * (blockIdx.z + 1) / kSplits;
  float d[Shape::kN / 2];
  uint32_t turn = 0;
  Shape::start(shared);
  Shape::multiply(d, shared, &map_a, &map_b, row, column, from, to, turn);
  const int top = row + threadIdx.x / 128 * 64;
  for_each_pair(d, [&](int r, int col, float left, float right) {
    if (top + r < m && column + col < n) {
      float* place = sums + static_cast<size_t>(top + r) * n + column + col;
      atomicAdd(place, left);
      atomicAdd(place + 1, right);
    }
  });
}

__global__ void round_sums(const float4* sums, uint2* c, int quads) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const float4 sum = sums[i];
    const __nv_bfloat162 low = __floats2bfloat162_rn(sum.x, sum.y), high = __floats2bfloat162_rn(sum.z, sum.w);
    c[i] = make_uint2(*reinterpret_cast<const uint32_t*>(&low), *reinterpret_cast<const uint32_t*>(&high));
  }
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const Call call(a, b, c);
  const size_t bytes = static_cast<size_t>(call.m) * call.n * sizeof(float);
  float* sums = nullptr;
  check(cudaMallocAsync(reinterpret_cast<void**>(&sums), bytes, call.stream), "cudaMallocAsync");
  check(cudaMemsetAsync(sums, 0, bytes, call.stream), "cudaMemsetAsync");
  allow_shared(gemm, kSharedBytes<Shape::Shared>);
  const dim3 grid(ceil_div(call.m, Shape::kM), ceil_div(call.n, Shape::kN), kSplits);
  gemm<<<grid, Shape::kThreads, kSharedBytes<Shape::Shared>, call.stream>>>(
      tensor_map(call.a, call.m, call.k, Shape::kM), tensor_map(call.b, call.n, call.k, Shape::kN), sums, call.m, call.n, call.k);
  round_sums<<<1024, 256, 0, call.stream>>>(reinterpret_cast<const float4*>(sums), reinterpret_cast<uint2*>(call.c),
                                            call.m * call.n / 4);
  check(cudaGetLastError(), "launch");
  check(cudaFreeAsync(sums, call.stream), "cudaFreeAsync");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
