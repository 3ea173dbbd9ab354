// mbarrier (PTX ISA, "mbarrier"). A barrier is an 8-byte aligned uint64_t in shared memory; a phase completes when the pending
// arrivals and the transaction bytes are both zero.
#pragma once

#include "../common/address.cuh"

namespace ptxk {

//@ptxk ptx="mbarrier.init.shared::cta.b64" sass="SYNCS.EXCH.64" contracts=mbarrier-init
__device__ __forceinline__ void mbarrier_init(uint64_t* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

// By the thread that initialised, before the barrier that lets others (threads, TMA, other CTAs) use the barriers.
//@ptxk ptx="fence.mbarrier_init.release.cluster" contracts=mbarrier-init
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

//@ptxk ptx="mbarrier.inval.shared::cta.b64" sass="SYNCS.CCTL.IV" contracts=mbarrier-init
__device__ __forceinline__ void mbarrier_invalidate(uint64_t* barrier) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}

//@ptxk ptx="mbarrier.arrive.shared::cta.b64" sass="SYNCS.ARRIVE.TRANS64.A1T0" contracts=mbarrier-arrive
__device__ __forceinline__ void mbarrier_arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

// One arrival, and `bytes` more to come before the phase may complete.
//@ptxk ptx="mbarrier.arrive.expect_tx.shared::cta.b64" sass="SYNCS.ARRIVE.TRANS64" contracts=mbarrier-expect-tx
__device__ __forceinline__ void mbarrier_arrive_expect_tx(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}

// Bytes to come, without an arrival.
//@ptxk ptx="mbarrier.expect_tx.relaxed.cta.shared::cta.b64" sass="SYNCS.ARRIVE.TRANS64.RED.A0TR" contracts=mbarrier-expect-tx
__device__ __forceinline__ void mbarrier_expect_tx(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}

// Whether the phase of this parity has completed; may sleep for a while before it says no.
//@ptxk ptx="mbarrier.try_wait.parity.shared::cta.b64" sass="SYNCS.PHASECHK.TRANS64.TRYWAIT" contracts=mbarrier-wait
__device__ __forceinline__ bool mbarrier_try_wait_parity(uint64_t* barrier, uint32_t parity) {
  uint32_t done;
  asm volatile(
      "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}\n"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return done != 0;
}

//@ptxk ptx="mbarrier.try_wait.parity.shared::cta.b64" sass="SYNCS.PHASECHK.TRANS64.TRYWAIT" contracts=mbarrier-wait
__device__ __forceinline__ void mbarrier_wait_parity(uint64_t* barrier, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra again;\n}\n" ::"r"(
          shared_address(barrier)),
      "r"(parity) : "memory");
}

// The same for what other CTAs of the cluster wrote by ordinary stores before their mbarrier_arrive_remote_release.
//@ptxk ptx="mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64" sass="SYNCS.PHASECHK.TRANS64.TRYWAIT" contracts=mbarrier-remote
__device__ __forceinline__ void mbarrier_wait_parity_cluster(uint64_t* barrier, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n@!p bra again;\n}\n" ::"r"(
          shared_address(barrier)),
      "r"(parity) : "memory");
}

// Arrive on the barrier at the same offset in CTA `cta` of the cluster. Of CTA scope: gives back a stage that TMA refills.
//@ptxk ptx="mbarrier.arrive.shared::cluster.b64" sass="SYNCS.ARRIVE.TRANS64.RED.A1T0" contracts=mbarrier-remote
__device__ __forceinline__ void mbarrier_arrive_remote(uint64_t* barrier, uint32_t cta) {
  asm volatile(
      "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\nmbarrier.arrive.shared::cluster.b64 _, [remote];\n}\n" ::"r"(
          shared_address(barrier)),
      "r"(cta) : "memory");
}

// The same, and what this thread wrote before is visible to who waits with mbarrier_wait_parity_cluster.
//@ptxk ptx="mbarrier.arrive.release.cluster.shared::cluster.b64" sass="SYNCS.ARRIVE.TRANS64.RED.A1T0" contracts=mbarrier-remote
__device__ __forceinline__ void mbarrier_arrive_remote_release(uint64_t* barrier, uint32_t cta) {
  asm volatile(
      "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n}\n" ::"r"(shared_address(barrier)),
      "r"(cta) : "memory");
}

//@ptxk ptx="mbarrier.arrive.expect_tx.shared::cluster.b64" sass="SYNCS.ARRIVE.TRANS64.RED" contracts=mbarrier-remote,mbarrier-expect-tx
__device__ __forceinline__ void mbarrier_arrive_expect_tx_remote(uint64_t* barrier, uint32_t cta, uint32_t bytes) {
  asm volatile(
      "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.expect_tx.shared::cluster.b64 _, [remote], %2;\n}\n" ::"r"(shared_address(barrier)),
      "r"(cta), "r"(bytes) : "memory");
}

}  // namespace ptxk
