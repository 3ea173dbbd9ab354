//@ptxk-hide
// Written by generate.py: change that, not this. What tma.cuh has for 2 dimensions, for 1, 3, 4 and 5.

#pragma once

#include <cuda.h>

#include "../common/address.cuh"

namespace ptxk {

__device__ __forceinline__ void tma_load_1d(void* to, const CUtensorMap* map, uint64_t* barrier, int c0) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3}], [%2];"
      :: "r"(shared_address(to)), "l"(map), "r"(shared_address(barrier)), "r"(c0) : "memory");
}

__device__ __forceinline__ void tma_load_hint_1d(void* to, const CUtensorMap* map, uint64_t* barrier, int c0, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1, {%3}], [%2], %4;"
      :: "r"(shared_address(to)), "l"(map), "r"(shared_address(barrier)), "r"(c0), "l"(policy) : "memory");
}

__device__ __forceinline__ void tma_load_1d_multicast(void* to, const CUtensorMap* map, uint64_t* barrier, int c0,
                                                      uint16_t mask) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%3}], [%2], %4;"
      :: "r"(shared_address(to)), "l"(map), "r"(shared_address(barrier)), "r"(c0), "h"(mask) : "memory");
}

__device__ __forceinline__ void tma_load_hint_1d_multicast(void* to, const CUtensorMap* map, uint64_t* barrier, int c0,
                                                           uint16_t mask, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint"
      " [%0], [%1, {%3}], [%2], %4, %5;"
      :: "r"(shared_address(to)), "l"(map), "r"(shared_address(barrier)), "r"(c0), "h"(mask), "l"(policy) : "memory");
}

__device__ __forceinline__ void tma_store_1d(const CUtensorMap* map, const void* from, int c0) {
  asm volatile(
      "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group"
      " [%0, {%2}], [%1];"
      :: "l"(map), "r"(shared_address(from)), "r"(c0) : "memory");
}

__device__ __forceinline__ void tma_store_hint_1d(const CUtensorMap* map, const void* from, int c0, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group.L2::cache_hint"
      " [%0, {%2}], [%1], %3;"
      :: "l"(map), "r"(shared_address(from)), "r"(c0), "l"(policy) : "memory");
}

__device__ __forceinline__ void tma_reduce_add_1d(const CUtensorMap* map, const void* from, int c0) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group"
      " [%0, {%2}], [%1];"
      :: "l"(map), "r"(shared_address(from)), "r"(c0) : "memory");
}

__device__ __forceinline__ void tma_prefetch_1d(const CUtensorMap* map, int c0) {
  asm volatile(
      "cp.async.bulk.prefetch.tensor.1d.L2.global.tile"
      " [%0, {%1}];"
      :: "l"(map), "r"(c0) : "memory");
}

__device__ __forceinline__ void tma_load_3d(void* to, const CUtensorMap* map, uint64_t* barrier, int c0, int c1, int c2) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5}], [%2];"
      :: "r"(shared_address(to)), "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "r"(c2) : "memory");
}

__device__ __forceinline__ void tma_load_hint_3d(void* to, const CUtensorMap* map, uint64_t* barrier, int c0, int c1, int c2,
                                                 uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1, {%3, %4, %5}], [%2], %6;"
      :: "r"(shared_address(to)), "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "r"(c2), "l"(policy) : "memory");
}

__device__ __forceinline__ void tma_load_3d_multicast(void* to, const CUtensorMap* map, uint64_t* barrier, int c0, int c1,
                                                      int c2, uint16_t mask) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%3, %4, %5}], [%2], %6;"
      :: "r"(shared_address(to)), "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "r"(c2), "h"(mask) : "memory");
}

__device__ __forceinline__ void tma_load_hint_3d_multicast(void* to, const CUtensorMap* map, uint64_t* barrier, int c0, int c1,
                                                           int c2, uint16_t mask, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint"
      " [%0], [%1, {%3, %4, %5}], [%2], %6, %7;"
      :: "r"(shared_address(to)), "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "r"(c2), "h"(mask), "l"(policy) :
         "memory");
}

__device__ __forceinline__ void tma_store_3d(const CUtensorMap* map, const void* from, int c0, int c1, int c2) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group"
      " [%0, {%2, %3, %4}], [%1];"
      :: "l"(map), "r"(shared_address(from)), "r"(c0), "r"(c1), "r"(c2) : "memory");
}

__device__ __forceinline__ void tma_store_hint_3d(const CUtensorMap* map, const void* from, int c0, int c1, int c2,
                                                  uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group.L2::cache_hint"
      " [%0, {%2, %3, %4}], [%1], %5;"
      :: "l"(map), "r"(shared_address(from)), "r"(c0), "r"(c1), "r"(c2), "l"(policy) : "memory");
}

__device__ __forceinline__ void tma_reduce_add_3d(const CUtensorMap* map, const void* from, int c0, int c1, int c2) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group"
      " [%0, {%2, %3, %4}], [%1];"
      :: "l"(map), "r"(shared_address(from)), "r"(c0), "r"(c1), "r"(c2) : "memory");
}

__device__ __forceinline__ void tma_prefetch_3d(const CUtensorMap* map, int c0, int c1, int c2) {
  asm volatile(
      "cp.async.bulk.prefetch.tensor.3d.L2.global.tile"
      " [%0, {%1, %2, %3}];"
      :: "l"(map), "r"(c0), "r"(c1), "r"(c2) : "memory");
}

__device__ __forceinline__ void tma_load_4d(void* to, const CUtensorMap* map, uint64_t* barrier, int c0, int c1, int c2, int c3)
                                            {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5, %6}], [%2];"
      :: "r"(shared_address(to)), "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "r"(c2), "r"(c3) : "memory");
}

__device__ __forceinline__ void tma_load_hint_4d(void* to, const CUtensorMap* map, uint64_t* barrier, int c0, int c1, int c2,
                                                 int c3, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1, {%3, %4, %5, %6}], [%2], %7;"
      :: "r"(shared_address(to)), "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "l"(policy) :
         "memory");
}

__device__ __forceinline__ void tma_load_4d_multicast(void* to, const CUtensorMap* map, uint64_t* barrier, int c0, int c1,
                                                      int c2, int c3, uint16_t mask) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%3, %4, %5, %6}], [%2], %7;"
      :: "r"(shared_address(to)), "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "h"(mask) :
         "memory");
}

__device__ __forceinline__ void tma_load_hint_4d_multicast(void* to, const CUtensorMap* map, uint64_t* barrier, int c0, int c1,
                                                           int c2, int c3, uint16_t mask, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint"
      " [%0], [%1, {%3, %4, %5, %6}], [%2], %7, %8;"
      :: "r"(shared_address(to)), "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "h"(mask),
         "l"(policy) : "memory");
}

__device__ __forceinline__ void tma_store_4d(const CUtensorMap* map, const void* from, int c0, int c1, int c2, int c3) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group"
      " [%0, {%2, %3, %4, %5}], [%1];"
      :: "l"(map), "r"(shared_address(from)), "r"(c0), "r"(c1), "r"(c2), "r"(c3) : "memory");
}

__device__ __forceinline__ void tma_store_hint_4d(const CUtensorMap* map, const void* from, int c0, int c1, int c2, int c3,
                                                  uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group.L2::cache_hint"
      " [%0, {%2, %3, %4, %5}], [%1], %6;"
      :: "l"(map), "r"(shared_address(from)), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "l"(policy) : "memory");
}

__device__ __forceinline__ void tma_reduce_add_4d(const CUtensorMap* map, const void* from, int c0, int c1, int c2, int c3) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.tile.bulk_group"
      " [%0, {%2, %3, %4, %5}], [%1];"
      :: "l"(map), "r"(shared_address(from)), "r"(c0), "r"(c1), "r"(c2), "r"(c3) : "memory");
}

__device__ __forceinline__ void tma_prefetch_4d(const CUtensorMap* map, int c0, int c1, int c2, int c3) {
  asm volatile(
      "cp.async.bulk.prefetch.tensor.4d.L2.global.tile"
      " [%0, {%1, %2, %3, %4}];"
      :: "l"(map), "r"(c0), "r"(c1), "r"(c2), "r"(c3) : "memory");
}

__device__ __forceinline__ void tma_load_5d(void* to, const CUtensorMap* map, uint64_t* barrier, int c0, int c1, int c2, int c3,
                                            int c4) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5, %6, %7}], [%2];"
      :: "r"(shared_address(to)), "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4) :
         "memory");
}

__device__ __forceinline__ void tma_load_hint_5d(void* to, const CUtensorMap* map, uint64_t* barrier, int c0, int c1, int c2,
                                                 int c3, int c4, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1, {%3, %4, %5, %6, %7}], [%2], %8;"
      :: "r"(shared_address(to)), "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4),
         "l"(policy) : "memory");
}

__device__ __forceinline__ void tma_load_5d_multicast(void* to, const CUtensorMap* map, uint64_t* barrier, int c0, int c1,
                                                      int c2, int c3, int c4, uint16_t mask) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%3, %4, %5, %6, %7}], [%2], %8;"
      :: "r"(shared_address(to)), "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "h"(mask)
         : "memory");
}

__device__ __forceinline__ void tma_load_hint_5d_multicast(void* to, const CUtensorMap* map, uint64_t* barrier, int c0, int c1,
                                                           int c2, int c3, int c4, uint16_t mask, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint"
      " [%0], [%1, {%3, %4, %5, %6, %7}], [%2], %8, %9;"
      :: "r"(shared_address(to)), "l"(map), "r"(shared_address(barrier)), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4),
         "h"(mask), "l"(policy) : "memory");
}

__device__ __forceinline__ void tma_store_5d(const CUtensorMap* map, const void* from, int c0, int c1, int c2, int c3, int c4) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group"
      " [%0, {%2, %3, %4, %5, %6}], [%1];"
      :: "l"(map), "r"(shared_address(from)), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4) : "memory");
}

__device__ __forceinline__ void tma_store_hint_5d(const CUtensorMap* map, const void* from, int c0, int c1, int c2, int c3,
                                                  int c4, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group.L2::cache_hint"
      " [%0, {%2, %3, %4, %5, %6}], [%1], %7;"
      :: "l"(map), "r"(shared_address(from)), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "l"(policy) : "memory");
}

__device__ __forceinline__ void tma_reduce_add_5d(const CUtensorMap* map, const void* from, int c0, int c1, int c2, int c3,
                                                  int c4) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.5d.global.shared::cta.add.tile.bulk_group"
      " [%0, {%2, %3, %4, %5, %6}], [%1];"
      :: "l"(map), "r"(shared_address(from)), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4) : "memory");
}

__device__ __forceinline__ void tma_prefetch_5d(const CUtensorMap* map, int c0, int c1, int c2, int c3, int c4) {
  asm volatile(
      "cp.async.bulk.prefetch.tensor.5d.L2.global.tile"
      " [%0, {%1, %2, %3, %4, %5}];"
      :: "l"(map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4) : "memory");
}

}  // namespace ptxk
//@ptxk-show
