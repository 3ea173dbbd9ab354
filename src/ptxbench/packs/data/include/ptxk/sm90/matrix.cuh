// 8x8 matrices of 16-bit elements between shared memory and a warp's registers (PTX ISA, "ldmatrix", "stmatrix"). Lane l gives the
// address (16-byte aligned) of row l % 8 of matrix l / 8 and holds, of each matrix, elements 2 * (l % 4) and the next of row l / 4.
// `trans`: the matrix lies transposed in shared memory.
#pragma once

#include "../common/address.cuh"

namespace ptxk {

//@ptxk ptx="ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16" sass="LDSM.16.M88.4" contracts=matrix-lanes
__device__ __forceinline__ void ldmatrix_x4(uint32_t (&r)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from)
               : "memory");
}

//@ptxk ptx="ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16" sass="LDSM.16.MT88.4" contracts=matrix-lanes
__device__ __forceinline__ void ldmatrix_x4_trans(uint32_t (&r)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from)
               : "memory");
}

//@ptxk ptx="stmatrix.sync.aligned.m8n8.x4.shared::cta.b16" sass="STSM.16.M88.4" contracts=matrix-lanes
__device__ __forceinline__ void stmatrix_x4(uint32_t to, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}

//@ptxk ptx="stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16" sass="STSM.16.MT88.4" contracts=matrix-lanes
__device__ __forceinline__ void stmatrix_x4_trans(uint32_t to, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c),
               "r"(d) : "memory");
}

//@ptxk ptx="stmatrix.sync.aligned.m8n8.x2.shared::cta.b16" sass="STSM.16.M88.2" contracts=matrix-lanes
__device__ __forceinline__ void stmatrix_x2(uint32_t to, uint32_t a, uint32_t b) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared::cta.b16 [%0], {%1, %2};" ::"r"(to), "r"(a), "r"(b) : "memory");
}

// Address of 16-byte chunk `chunk` of row `row` of a box in the 128-byte swizzle, which starts on 1024 bytes.
__host__ __device__ constexpr uint32_t swizzled_128(uint32_t box, uint32_t row, uint32_t chunk) {
  return box + row * 128 + ((chunk ^ (row % 8)) << 4);
}

}  // namespace ptxk
