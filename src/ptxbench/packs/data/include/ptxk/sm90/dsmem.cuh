// Shared memory of other CTAs of the cluster (PTX ISA, "mapa", "st.async", "cp.async.bulk"). Addresses come from map_to_cta.
#pragma once

#include "cluster.cuh"

namespace ptxk {

//@ptxk ptx="ld.shared::cluster.u32" sass="LD.E" contracts=dsmem-access
__device__ __forceinline__ uint32_t load_remote(uint32_t remote) {
  uint32_t value;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(remote) : "memory");
  return value;
}

//@ptxk ptx="st.shared::cluster.u32" sass="ST.E" contracts=dsmem-access
__device__ __forceinline__ void store_remote(uint32_t remote, uint32_t value) {
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(remote), "r"(value) : "memory");
}

// 16 bytes that complete on `barrier` of the same CTA as `remote` (both addresses mapped).
//@ptxk ptx="st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32" sass="STAS.128" contracts=dsmem-async
__device__ __forceinline__ void store_remote_async(uint32_t remote, uint4 value, uint32_t barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(remote),
               "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w), "r"(barrier) : "memory");
}

// `bytes` (a multiple of 16) of this CTA's shared memory; they complete on `barrier` in the CTA they go to.
//@ptxk ptx="cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes" sass="UBLKCP.S.S" contracts=dsmem-async
__device__ __forceinline__ void bulk_copy_remote(uint32_t remote, const void* from, uint32_t bytes, uint32_t barrier) {
  asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(remote),
               "r"(shared_address(from)), "r"(bytes), "r"(barrier) : "memory");
}

}  // namespace ptxk
