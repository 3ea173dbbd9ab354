// Persistent CTAs over tiles of 128x192, walked in groups of eight tile rows so that they share L2.
// expect: outcome=correct proof=qualified work_share=in

#include "hopper.cuh"

using Shape = Tile<192, 2, 5>;
constexpr int kGroup = 8;

__global__ void __launch_bounds__(Shape::kThreads, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, bf16* c, int m, int n, int k) {
  extern __shared__ uint8_t raw[];
  auto& shared = aligned_shared<Shape::Shared>(raw);
  const int tiles_m = ceil_div(m, Shape::kM), tiles_n = ceil_div(n, Shape::kN);
  float d[Shape::kN / 2];
  uint32_t turn = 0;
  Shape::start(shared);
  for (int tile = blockIdx.x; tile < tiles_m * tiles_n; tile += gridDim.x) {
    const int first = tile / (kGroup * tiles_n) * kGroup;
    const int height = min(kGroup, tiles_m - first);
    const int inside = tile % (kGroup * tiles_n);
    const int row = (first + inside % height) * Shape::kM, column = inside / height * Shape::kN;
    Shape::multiply(d, shared, &map_a, &map_b, row, column, 0, k / kTileK, turn);
    store(d, c, row + threadIdx.x / 128 * 64, column, m, n);
  }
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const Call call(a, b, c);
  allow_shared(gemm, kSharedBytes<Shape::Shared>);
  const int tiles = ceil_div(call.m, Shape::kM) * ceil_div(call.n, Shape::kN);
  gemm<<<min(tiles, sm_count()), Shape::kThreads, kSharedBytes<Shape::Shared>, call.stream>>>(
      tensor_map(call.a, call.m, call.k, Shape::kM), tensor_map(call.b, call.n, call.k, Shape::kN), call.c, call.m, call.n, call.k);
  check(cudaGetLastError(), "launch");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
