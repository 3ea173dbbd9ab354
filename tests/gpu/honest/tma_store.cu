// C goes through shared memory and leaves by TMA, a box of 64x64 a time, in the 128-byte swizzle.
// expect: outcome=correct proof=qualified work_share=in

#include "hopper.cuh"

using Shape = Tile<128, 2, 4>;
constexpr int kBox = 64 * 64;  // bf16 of a box; the ring, free by then, holds two for each warpgroup

__global__ void __launch_bounds__(Shape::kThreads, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
         const __grid_constant__ CUtensorMap map_c, int k) {
  extern __shared__ uint8_t raw[];
  auto& shared = aligned_shared<Shape::Shared>(raw);
  const int row = blockIdx.x * Shape::kM, column = blockIdx.y * Shape::kN;
  float d[Shape::kN / 2];
  uint32_t turn = 0;
  Shape::start(shared);
  Shape::multiply(d, shared, &map_a, &map_b, row, column, 0, k / kTileK, turn);
  bf16* boxes = reinterpret_cast<bf16*>(&shared) + threadIdx.x / 128 * 2 * kBox;
  for_each_pair(d, [&](int r, int col, float left, float right) {
    // Chunk of 16 bytes x of row y lies where chunk x ^ (y % 8) would.
    const int chunk = (col % 64 / 8) ^ (r % 8);
    *reinterpret_cast<__nv_bfloat162*>(boxes + col / 64 * kBox + r * 64 + chunk * 8 + col % 8) = __floats2bfloat162_rn(left, right);
  });
  async_proxy_fence();
  __syncthreads();
  if (threadIdx.x % 128 == 0) {
    for (int part = 0; part < 2; ++part) {
      tma_store(&map_c, boxes + part * kBox, column + part * 64, row + threadIdx.x / 128 * 64);
    }
    tma_store_finish();
  }
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const Call call(a, b, c);
  allow_shared(gemm, kSharedBytes<Shape::Shared>);
  const dim3 grid(ceil_div(call.m, Shape::kM), ceil_div(call.n, Shape::kN));
  gemm<<<grid, Shape::kThreads, kSharedBytes<Shape::Shared>, call.stream>>>(
      tensor_map(call.a, call.m, call.k, Shape::kM), tensor_map(call.b, call.n, call.k, Shape::kN),
      tensor_map(call.c, call.m, call.n, 64), call.k);
  check(cudaGetLastError(), "launch");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
