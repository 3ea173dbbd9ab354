// Tensor maps in constant memory, written anew on the stream in each call.
// expect: outcome=correct proof=qualified work_share=in

#include "hopper.cuh"

using Shape = Tile<128, 2, 4>;

__constant__ CUtensorMap maps[2];

__global__ void __launch_bounds__(Shape::kThreads, 1) gemm(bf16* c, int m, int n, int k) {
  extern __shared__ uint8_t raw[];
  auto& shared = aligned_shared<Shape::Shared>(raw);
  const int row = blockIdx.x * Shape::kM, column = blockIdx.y * Shape::kN;
  float d[Shape::kN / 2];
  uint32_t turn = 0;
  Shape::start(shared);
  Shape::multiply(d, shared, &maps[0], &maps[1], row, column, 0, k / kTileK, turn);
  store(d, c, row + threadIdx.x / 128 * 64, column, m, n);
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const Call call(a, b, c);
  const CUtensorMap fresh[2] = {tensor_map(call.a, call.m, call.k, Shape::kM), tensor_map(call.b, call.n, call.k, Shape::kN)};
  check(cudaMemcpyToSymbolAsync(maps, fresh, sizeof fresh, 0, cudaMemcpyHostToDevice, call.stream), "cudaMemcpyToSymbolAsync");
  allow_shared(gemm, kSharedBytes<Shape::Shared>);
  const dim3 grid(ceil_div(call.m, Shape::kM), ceil_div(call.n, Shape::kN));
  gemm<<<grid, Shape::kThreads, kSharedBytes<Shape::Shared>, call.stream>>>(call.c, call.m, call.n, call.k);
  check(cudaGetLastError(), "launch");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
