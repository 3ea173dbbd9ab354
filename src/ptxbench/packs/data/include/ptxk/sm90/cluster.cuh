// Thread block clusters (PTX ISA, "barrier.cluster", "mapa").
#pragma once

#include "../common/address.cuh"

namespace ptxk {

// This CTA's rank in its cluster: its bit in multicast masks, its number for map_to_cta.
//@ptxk ptx="%cluster_ctarank" sass="SR_CgaCtaId" contracts=cluster-launch
__device__ __forceinline__ uint32_t cluster_rank() {
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

//@ptxk ptx="%cluster_nctarank" contracts=cluster-launch
__device__ __forceinline__ uint32_t cluster_size() {
  uint32_t size;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
}

//@ptxk ptx="barrier.cluster.arrive.aligned" sass="UCGABAR_ARV" contracts=cluster-barrier
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }

// Orders no memory: for what must only be alive, not seen.
//@ptxk ptx="barrier.cluster.arrive.relaxed.aligned" sass="UCGABAR_ARV" contracts=cluster-barrier
__device__ __forceinline__ void cluster_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

//@ptxk ptx="barrier.cluster.wait.aligned" sass="UCGABAR_WAIT" contracts=cluster-barrier
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }

// All threads of all CTAs of the cluster.
//@ptxk ptx="barrier.cluster.arrive.aligned" sass="UCGABAR_ARV" contracts=cluster-barrier
__device__ __forceinline__ void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}

// The shared::cluster address of the same offset in CTA `cta`.
//@ptxk ptx="mapa.shared::cluster.u32" contracts=dsmem-access
__device__ __forceinline__ uint32_t map_to_cta(const void* shared, uint32_t cta) {
  uint32_t remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(shared_address(shared)), "r"(cta));
  return remote;
}

}  // namespace ptxk
