//@ptxk-hide
// Written by generate.py: change that, not this.
//@ptxk-show
// wgmma written out, the patterns to copy. For another N: d has N / 2 registers, and the numbers of the operands after them begin
// there. For f16 inputs write k16.f32.f16.f16; for fp8 k32.f32.e4m3.e4m3 (or e5m2) and for tf32 k8.f32.tf32.tf32, both without the
// last operands, the majors; for s8 k32.s32.s8.s8 with int32_t sums ("+r") and nothing after p.

#pragma once

#include "descriptor.cuh"
#include "wgmma.cuh"

namespace ptxk {

// %t0 to %t9; the operands d[i] to d[i + 7].
#define PTXK_TEN(t) \
  "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, %" #t "9, "
#define PTXK_EIGHT(i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])

//@ptxk ptx="wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16" sass="HGMMA.64x64x16.F32.BF16" contracts=wgmma-protocol
template <Major kA = Major::k, Major kB = Major::k>
__device__ __forceinline__ void wgmma_m64n64k16_bf16(float (&d)[32], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
      PTXK_TEN() PTXK_TEN(1) PTXK_TEN(2) "%30, %31}, "
      "%32, %33, p, 1, 1, %35, %36;\n}\n"
      : PTXK_EIGHT(0), PTXK_EIGHT(8), PTXK_EIGHT(16), PTXK_EIGHT(24)
      : "l"(a), "l"(b), "r"(accumulate), "n"(static_cast<int>(kA)), "n"(static_cast<int>(kB))
      : "memory");
}

//@ptxk ptx="wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16" sass="HGMMA.64x64x16.F32.BF16" contracts=wgmma-protocol
template <Major kB = Major::k>
__device__ __forceinline__ void wgmma_m64n64k16_bf16_rs(float (&d)[32], const uint32_t (&a)[4], uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
      PTXK_TEN() PTXK_TEN(1) PTXK_TEN(2) "%30, %31}, "
      "{%32, %33, %34, %35}, %36, p, 1, 1, %38;\n}\n"
      : PTXK_EIGHT(0), PTXK_EIGHT(8), PTXK_EIGHT(16), PTXK_EIGHT(24)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), "n"(static_cast<int>(kB))
      : "memory");
}

//@ptxk ptx="wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16" sass="HGMMA.64x256x16.F32.BF16" contracts=wgmma-protocol
template <Major kA = Major::k, Major kB = Major::k>
__device__ __forceinline__ void wgmma_m64n256k16_bf16(float (&d)[128], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      PTXK_TEN() PTXK_TEN(1) PTXK_TEN(2) PTXK_TEN(3) PTXK_TEN(4) PTXK_TEN(5) PTXK_TEN(6) PTXK_TEN(7) PTXK_TEN(8) PTXK_TEN(9)
      PTXK_TEN(10) PTXK_TEN(11) "%120, %121, %122, %123, %124, %125, %126, %127}, "
      "%128, %129, p, 1, 1, %131, %132;\n}\n"
      : PTXK_EIGHT(0), PTXK_EIGHT(8), PTXK_EIGHT(16), PTXK_EIGHT(24), PTXK_EIGHT(32), PTXK_EIGHT(40), PTXK_EIGHT(48),
        PTXK_EIGHT(56), PTXK_EIGHT(64), PTXK_EIGHT(72), PTXK_EIGHT(80), PTXK_EIGHT(88), PTXK_EIGHT(96), PTXK_EIGHT(104),
        PTXK_EIGHT(112), PTXK_EIGHT(120)
      : "l"(a), "l"(b), "r"(accumulate), "n"(static_cast<int>(kA)), "n"(static_cast<int>(kB))
      : "memory");
}

}  // namespace ptxk
