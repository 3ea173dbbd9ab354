// Split-K: three CTAs a tile; whoever comes last adds the others' parts, in order. The workspace is kept from call to call.
// expect: outcome=correct proof=qualified work_share=in

#include "hopper.cuh"

using Shape = Tile<128, 2, 4>;
constexpr int kSplits = 3;
constexpr int kParts = kSplits * Shape::kM * Shape::kN;  // floats of a tile's workspace

__global__ void __launch_bounds__(Shape::kThreads, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, bf16* c, float* parts,
         unsigned* arrived, int m, int n, int k) {
  extern __shared__ uint8_t raw[];
  __shared__ bool last;
  auto& shared = aligned_shared<Shape::Shared>(raw);
  const int row = blockIdx.x * Shape::kM, column = blockIdx.y * Shape::kN;
  const int tile = blockIdx.y * gridDim.x + blockIdx.x;
  const int steps = k / kTileK;
  const int from = steps * blockIdx.z / kSplits, to = steps * (blockIdx.z + 1) / kSplits;
  float d[Shape::kN / 2];
  uint32_t turn = 0;
  Shape::start(shared);
  Shape::multiply(d, shared, &map_a, &map_b, row, column, from, to, turn);

  // Sum i of all threads lies together, in the fragment's own order: nobody needs to know rows and columns.
  float* own = parts + static_cast<size_t>(tile) * kParts + threadIdx.x;
#pragma unroll
  for (int i = 0; i < Shape::kN / 2; ++i) {
    __stcg(own + (blockIdx.z * (Shape::kN / 2) + i) * Shape::kThreads, d[i]);
  }
  __threadfence();
  __syncthreads();  // every thread's part is written and visible before it is counted
  if (threadIdx.x == 0) {
    last = atomicInc(&arrived[tile], kSplits - 1) == kSplits - 1;  // the last one sets it back to 0
  }
  __syncthreads();
  if (!last) {
    return;
  }
  __threadfence();
#pragma unroll
  for (int i = 0; i < Shape::kN / 2; ++i) {
    float sum = 0;
    for (int split = 0; split < kSplits; ++split) {
      sum += __ldcg(own + (split * (Shape::kN / 2) + i) * Shape::kThreads);
    }
    d[i] = sum;
  }
  store(d, c, row + threadIdx.x / 128 * 64, column, m, n);
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const Call call(a, b, c);
  static float* parts = nullptr;
  static unsigned* arrived = nullptr;
  static int room = 0;  // in tiles
  const dim3 grid(ceil_div(call.m, Shape::kM), ceil_div(call.n, Shape::kN), kSplits);
  const int tiles = grid.x * grid.y;
  if (tiles > room) {
    check(cudaFree(parts), "cudaFree");
    check(cudaFree(arrived), "cudaFree");
    check(cudaMalloc(reinterpret_cast<void**>(&parts), static_cast<size_t>(tiles) * kParts * sizeof(float)), "cudaMalloc");
    check(cudaMalloc(reinterpret_cast<void**>(&arrived), tiles * sizeof(unsigned)), "cudaMalloc");
    check(cudaMemset(arrived, 0, tiles * sizeof(unsigned)), "cudaMemset");
    room = tiles;
  }
  allow_shared(gemm, kSharedBytes<Shape::Shared>);
  gemm<<<grid, Shape::kThreads, kSharedBytes<Shape::Shared>, call.stream>>>(
      tensor_map(call.a, call.m, call.k, Shape::kM), tensor_map(call.b, call.n, call.k, Shape::kN), call.c, parts, arrived, call.m,
      call.n, call.k);
  check(cudaGetLastError(), "launch");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
