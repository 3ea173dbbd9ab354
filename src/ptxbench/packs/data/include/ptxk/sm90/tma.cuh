// TMA: tensors and runs of bytes between global and shared memory (PTX ISA, "cp.async.bulk", "cp.reduce.async.bulk"). One thread
// issues. Coordinates count elements, innermost first. Other ranks, 1 to 5, differ in `.2d` and in the number of coordinates.
#pragma once

#include <cuda.h>

#include "../common/address.cuh"

namespace ptxk {

//@ptxk ptx="prefetch.tensormap" sass="UTMACCTL.PF" contracts=tma-descriptor
__device__ __forceinline__ void tma_prefetch_descriptor(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// A box from the map's tensor; its bytes complete on `barrier`.
//@ptxk ptx="cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes" sass="UTMALDG.2D" contracts=tma-load,tma-bounds variants="1d..5d"
__device__ __forceinline__ void tma_load_2d(void* to, const CUtensorMap* map, uint64_t* barrier, int c0, int c1) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
          shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1) : "memory");
}

// The same with a policy of cache.cuh.
//@ptxk ptx="cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint" sass="UTMALDG.2D" contracts=cache-policy variants="1d..5d"
__device__ __forceinline__ void tma_load_hint_2d(void* to, const CUtensorMap* map, uint64_t* barrier, int c0, int c1,
                                                 uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "l"(policy) : "memory");
}

// To the same offset in every CTA whose bit (cluster_rank) is set in `mask`; each one's own barrier gets the bytes.
//@ptxk ptx="cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster" sass="UTMALDG.2D.MULTICAST" contracts=tma-multicast variants="1d..5d"
__device__ __forceinline__ void tma_load_2d_multicast(void* to, const CUtensorMap* map, uint64_t* barrier, int c0, int c1,
                                                      uint16_t mask) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "h"(mask) : "memory");
}

//@ptxk ptx="cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint" sass="UTMALDG.2D.MULTICAST" contracts=tma-multicast,cache-policy variants="1d..5d"
__device__ __forceinline__ void tma_load_hint_2d_multicast(void* to, const CUtensorMap* map, uint64_t* barrier, int c0, int c1,
                                                           uint16_t mask, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint"
      " [%0], [%1, {%3, %4}], [%2], %5, %6;" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "h"(mask), "l"(policy) : "memory");
}

// Before it: every writer's fence_proxy_async_shared, then a barrier. After it: tma_commit.
//@ptxk ptx="cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group" sass="UTMASTG.2D" contracts=tma-store variants="1d..5d"
__device__ __forceinline__ void tma_store_2d(const CUtensorMap* map, const void* from, int c0, int c1) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
               "r"(shared_address(from)), "r"(c0), "r"(c1) : "memory");
}

//@ptxk ptx="cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint" sass="UTMASTG.2D" contracts=cache-policy variants="1d..5d"
__device__ __forceinline__ void tma_store_hint_2d(const CUtensorMap* map, const void* from, int c0, int c1, uint64_t policy) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%2, %3}], [%1], %4;" ::"l"(map),
               "r"(shared_address(from)), "r"(c0), "r"(c1), "l"(policy) : "memory");
}

// Adds the box to the tensor, element by element in the map's type.
//@ptxk ptx="cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group" sass="UTMAREDG.2D.ADD" contracts=tma-store variants="1d..5d"
__device__ __forceinline__ void tma_reduce_add_2d(const CUtensorMap* map, const void* from, int c0, int c1) {
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
               "r"(shared_address(from)), "r"(c0), "r"(c1) : "memory");
}

// Into L2 only.
//@ptxk ptx="cp.async.bulk.prefetch.tensor.2d.L2.global.tile" sass="UTMAPF.L2.2D" contracts=tma-load variants="1d..5d"
__device__ __forceinline__ void tma_prefetch_2d(const CUtensorMap* map, int c0, int c1) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(map), "r"(c0), "r"(c1) : "memory");
}

// Ends a bulk group of this thread's stores and reductions.
//@ptxk ptx="cp.async.bulk.commit_group" sass="UTMACMDFLUSH" contracts=tma-store
__device__ __forceinline__ void tma_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Until at most kPending of this thread's groups still read their shared memory: it may be written again.
//@ptxk ptx="cp.async.bulk.wait_group.read" sass="DEPBAR.LE" contracts=tma-store
template <int kPending>
__device__ __forceinline__ void tma_wait_read() {
  static_assert(kPending >= 0, "a number of groups");
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

// Until they are complete: this thread sees what they wrote.
//@ptxk ptx="cp.async.bulk.wait_group" sass="DEPBAR.LE" contracts=tma-store
template <int kPending>
__device__ __forceinline__ void tma_wait() {
  static_assert(kPending >= 0, "a number of groups");
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kPending) : "memory");
}

// ---- runs of bytes: no tensor map; addresses and sizes are multiples of 16 ----

//@ptxk ptx="cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes" sass="UBLKCP.S.G" contracts=bulk-alignment
__device__ __forceinline__ void bulk_load(void* to, const void* from, uint32_t bytes, uint64_t* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
               "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(barrier)) : "memory");
}

//@ptxk ptx="cp.async.bulk.global.shared::cta.bulk_group" sass="UBLKCP.G.S" contracts=bulk-alignment
__device__ __forceinline__ void bulk_store(void* to, const void* from, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),
               "r"(shared_address(from)), "r"(bytes) : "memory");
}

//@ptxk ptx="cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32" sass="UBLKRED.G.S.ADD.F32" contracts=bulk-alignment
__device__ __forceinline__ void bulk_reduce_add_f32(float* to, const float* from, uint32_t bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),
               "r"(shared_address(from)), "r"(bytes) : "memory");
}

//@ptxk ptx="cp.async.bulk.prefetch.L2.global" sass="UBLKPF" contracts=bulk-alignment
__device__ __forceinline__ void bulk_prefetch(const void* from, uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(from)), "r"(bytes) : "memory");
}

}  // namespace ptxk
