// Persistent CTAs that draw their tiles from an atomic counter, which the last one to leave sets back.
// expect: outcome=correct proof=qualified work_share=in

#include "hopper.cuh"

using Shape = Tile<128, 2, 4>;

__device__ int next_tile = 0;

__global__ void __launch_bounds__(Shape::kThreads, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, bf16* c, int m, int n, int k) {
  extern __shared__ uint8_t raw[];
  __shared__ int drawn;
  auto& shared = aligned_shared<Shape::Shared>(raw);
  const int tiles_m = ceil_div(m, Shape::kM), tiles = tiles_m * ceil_div(n, Shape::kN);
  float d[Shape::kN / 2];
  uint32_t turn = 0;
  Shape::start(shared);
  while (true) {
    if (threadIdx.x == 0) {
      drawn = atomicAdd(&next_tile, 1);
    }
    __syncthreads();
    const int tile = drawn;
    __syncthreads();  // everybody has it before it is drawn anew
    if (tile >= tiles) {
      // Every CTA draws one number too many: whoever draws the last of all is the last to touch the counter.
      if (threadIdx.x == 0 && tile == tiles + static_cast<int>(gridDim.x) - 1) {
        next_tile = 0;
      }
      return;
    }
    const int row = tile % tiles_m * Shape::kM, column = tile / tiles_m * Shape::kN;
    Shape::multiply(d, shared, &map_a, &map_b, row, column, 0, k / kTileK, turn);
    store(d, c, row + threadIdx.x / 128 * 64, column, m, n);
  }
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const Call call(a, b, c);
  allow_shared(gemm, kSharedBytes<Shape::Shared>);
  gemm<<<sm_count(), Shape::kThreads, kSharedBytes<Shape::Shared>, call.stream>>>(
      tensor_map(call.a, call.m, call.k, Shape::kM), tensor_map(call.b, call.n, call.k, Shape::kN), call.c, call.m, call.n, call.k);
  check(cudaGetLastError(), "launch");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
