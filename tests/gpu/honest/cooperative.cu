// One cooperative launch: CTAs leave parts of sums along K in a workspace, meet at a grid barrier, then add and round.
// expect: outcome=correct proof=qualified work_share=in

#include <cooperative_groups.h>

#include "hopper.cuh"

using Shape = Tile<128, 2, 4>;
constexpr int kSplits = 2;

__global__ void __launch_bounds__(Shape::kThreads, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, bf16* c, float* parts, int m, int n,
         int k) {
  extern __shared__ uint8_t raw[];
  auto& shared = aligned_shared<Shape::Shared>(raw);
  const int tiles_m = ceil_div(m, Shape::kM), tiles = tiles_m * ceil_div(n, Shape::kN);
  const int steps = k / kTileK;
  float d[Shape::kN / 2];
  uint32_t turn = 0;
  Shape::start(shared);
  for (int unit = blockIdx.x; unit < tiles * kSplits; unit += gridDim.x) {
    const int tile = unit / kSplits, split = unit % kSplits;
    const int row = tile % tiles_m * Shape::kM, column = tile / tiles_m * Shape::kN;
    Shape::multiply(d, shared, &map_a, &map_b, row, column, steps * split / kSplits, steps * (split + 1) / kSplits, turn);
    float* part = parts + static_cast<size_t>(split) * m * n;
    const int top = row + threadIdx.x / 128 * 64;
    for_each_pair(d, [&](int r, int col, float left, float right) {
      if (top + r < m && column + col < n) {
        *reinterpret_cast<float2*>(part + static_cast<size_t>(top + r) * n + column + col) = make_float2(left, right);
      }
    });
  }
  cooperative_groups::this_grid().sync();
  const size_t pairs = static_cast<size_t>(m) * n / 2;
  const auto* first = reinterpret_cast<const float2*>(parts);
  for (size_t i = blockIdx.x * size_t{Shape::kThreads} + threadIdx.x; i < pairs; i += gridDim.x * size_t{Shape::kThreads}) {
    const float2 one = __ldcg(first + i), other = __ldcg(first + pairs + i);
    reinterpret_cast<__nv_bfloat162*>(c)[i] = __floats2bfloat162_rn(one.x + other.x, one.y + other.y);
  }
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const Call call(a, b, c);
  float* parts = nullptr;
  const size_t bytes = static_cast<size_t>(call.m) * call.n * sizeof(float) * kSplits;
  check(cudaMallocAsync(reinterpret_cast<void**>(&parts), bytes, call.stream), "cudaMallocAsync");
  allow_shared(gemm, kSharedBytes<Shape::Shared>);
  const CUtensorMap map_a = tensor_map(call.a, call.m, call.k, Shape::kM);
  const CUtensorMap map_b = tensor_map(call.b, call.n, call.k, Shape::kN);
  bf16* out = call.c;
  int m = call.m, n = call.n, k = call.k;
  void* arguments[] = {const_cast<CUtensorMap*>(&map_a), const_cast<CUtensorMap*>(&map_b), &out, &parts, &m, &n, &k};
  check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(gemm), dim3(sm_count()), dim3(Shape::kThreads), arguments,
                                    kSharedBytes<Shape::Shared>, call.stream),
        "cudaLaunchCooperativeKernel");
  check(cudaFreeAsync(parts, call.stream), "cudaFreeAsync");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
