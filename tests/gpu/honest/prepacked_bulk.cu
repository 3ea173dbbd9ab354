// Two kernels lay A and B down tile by tile, swizzled; the GEMM then moves whole tiles by bulk copies that are no tensor's.
// expect: outcome=correct proof=qualified work_share=in

#include "hopper.cuh"

using Shape = Tile<128, 2, 4>;
static_assert(Shape::kM == Shape::kN, "one packing for both");
constexpr int kBlock = Shape::kM * kTileK;  // elements of a packed tile

// packed[tile of rows][tile of columns] is a tile as the 128-byte swizzle wants it in shared memory; zeros outside of the matrix.
__global__ void pack(const bf16* matrix, uint4* packed, int rows, int k) {
  const int tile_row = blockIdx.y, tile_column = blockIdx.x;
  uint4* block = packed + (static_cast<size_t>(tile_row) * gridDim.x + tile_column) * (kBlock / 8);
  for (int i = threadIdx.x; i < kBlock / 8; i += blockDim.x) {
    const int r = i / 8, chunk = i % 8, row = tile_row * Shape::kM + r;
    uint4 value = make_uint4(0, 0, 0, 0);
    if (row < rows) {
      value = *reinterpret_cast<const uint4*>(matrix + static_cast<size_t>(row) * k + tile_column * kTileK + chunk * 8);
    }
    block[r * 8 + (chunk ^ (r % 8))] = value;
  }
}

// PTX ISA, "cp.async.bulk".
__device__ __forceinline__ void bulk_load(void* to, const void* from, uint32_t bytes, uint64_t* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
               "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(barrier)) : "memory");
}

__global__ void __launch_bounds__(Shape::kThreads, 1)
    gemm(const bf16* packed_a, const bf16* packed_b, bf16* c, int m, int n, int k) {
  extern __shared__ uint8_t raw[];
  auto& shared = aligned_shared<Shape::Shared>(raw);
  const int steps = k / kTileK;
  const bf16* left = packed_a + static_cast<size_t>(blockIdx.x) * steps * kBlock;
  const bf16* right = packed_b + static_cast<size_t>(blockIdx.y) * steps * kBlock;
  float d[Shape::kN / 2];
  uint32_t turn = 0;
  Shape::start(shared);
  Shape::multiply(d, shared, 0, steps, turn, [&](bf16* to_a, bf16* to_b, uint64_t* full, int step) {
    bulk_load(to_a, left + static_cast<size_t>(step) * kBlock, kBlock * sizeof(bf16), full);
    bulk_load(to_b, right + static_cast<size_t>(step) * kBlock, kBlock * sizeof(bf16), full);
  });
  store(d, c, blockIdx.x * Shape::kM + threadIdx.x / 128 * 64, blockIdx.y * Shape::kN, m, n);
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const Call call(a, b, c);
  const int tiles_m = ceil_div(call.m, Shape::kM), tiles_n = ceil_div(call.n, Shape::kN), steps = call.k / kTileK;
  const size_t elements = static_cast<size_t>(tiles_m + tiles_n) * steps * kBlock;
  bf16* packed = nullptr;
  check(cudaMallocAsync(reinterpret_cast<void**>(&packed), elements * sizeof(bf16), call.stream), "cudaMallocAsync");
  bf16* packed_b = packed + static_cast<size_t>(tiles_m) * steps * kBlock;
  pack<<<dim3(steps, tiles_m), 256, 0, call.stream>>>(call.a, reinterpret_cast<uint4*>(packed), call.m, call.k);
  pack<<<dim3(steps, tiles_n), 256, 0, call.stream>>>(call.b, reinterpret_cast<uint4*>(packed_b), call.n, call.k);
  allow_shared(gemm, kSharedBytes<Shape::Shared>);
  gemm<<<dim3(tiles_m, tiles_n), Shape::kThreads, kSharedBytes<Shape::Shared>, call.stream>>>(packed, packed_b, call.c, call.m,
                                                                                              call.n, call.k);
  check(cudaGetLastError(), "launch");
  check(cudaFreeAsync(packed, call.stream), "cudaFreeAsync");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
