// wgmma with A from registers: ldmatrix takes A's fragments out of the swizzled tile, B stays in shared memory.
// expect: outcome=correct proof=qualified work_share=in

#include "hopper.cuh"

using Shape = Tile<64, 2, 4>;

// d[64x64] = a[64x16] * b[64x16]^T + (accumulate ? d : 0) with A's fragment in registers, as mma.m16n8k16 has it.
__device__ __forceinline__ void wgmma_registers(float (&d)[32], const uint32_t (&a)[4], uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, p, 1, 1, 0;\n}\n"
      : ACC32(0)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate));
}

// Lane l gives the address of row l % 8 of matrix l / 8 (PTX ISA, "ldmatrix").
__device__ __forceinline__ void ldmatrix_x4(uint32_t (&to)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

__global__ void __launch_bounds__(Shape::kThreads, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, bf16* c, int m, int n, int k) {
  extern __shared__ uint8_t raw[];
  auto& shared = aligned_shared<Shape::Shared>(raw);
  const int row = blockIdx.x * Shape::kM, column = blockIdx.y * Shape::kN, steps = k / kTileK;
  const int lane = threadIdx.x % 32;
  const int line = threadIdx.x / 32 * 16 + lane % 16;  // of the tile of A: a warp has 16
  Shape::start(shared);
  const auto fill = [&](int step) {
    const int stage = step % 4;
    mbarrier_expect(&shared.full[stage], Shape::kStageBytes);
    tma_load(shared.a[stage], &map_a, &shared.full[stage], step * kTileK, row);
    tma_load(shared.b[stage], &map_b, &shared.full[stage], step * kTileK, column);
  };
  if (threadIdx.x == 0) {
    for (int step = 0; step < 4 && step < steps; ++step) {
      fill(step);
    }
  }
  __syncwarp();
  float d[Shape::kN / 2];
  for (int step = 0; step < steps; ++step) {
    const int stage = step % 4;
    mbarrier_wait(&shared.full[stage], step / 4 % 2);
    uint32_t fragments[kTileK / 16][4];
#pragma unroll
    for (int i = 0; i < kTileK / 16; ++i) {
      // Chunk of 16 bytes x of row y lies where chunk x ^ (y % 8) would.
      const int chunk = (2 * i + lane / 16) ^ (line % 8);
      ldmatrix_x4(fragments[i], shared_address(shared.a[stage]) + line * 128 + chunk * 16);
    }
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < kTileK / 16; ++i) {
      wgmma_registers(d, fragments[i], descriptor(shared.b[stage]) + 2 * i, step | i);
    }
    wgmma_commit();
    wgmma_wait<0>();  // the fragments' registers are free again, and so is the stage
    __syncthreads();
    if (threadIdx.x == 0 && step + 4 < steps) {
      fill(step + 4);
    }
    __syncwarp();
  }
  settle(d);
  store(d, c, row + threadIdx.x / 128 * 64, column, m, n);
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const Call call(a, b, c);
  allow_shared(gemm, kSharedBytes<Shape::Shared>);
  const dim3 grid(ceil_div(call.m, Shape::kM), ceil_div(call.n, Shape::kN));
  gemm<<<grid, Shape::kThreads, kSharedBytes<Shape::Shared>, call.stream>>>(
      tensor_map(call.a, call.m, call.k, Shape::kM), tensor_map(call.b, call.n, call.k, Shape::kN), call.c, call.m, call.n, call.k);
  check(cudaGetLastError(), "launch");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
