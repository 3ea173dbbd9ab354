// Copies a row by the bulk engine without a tensor map.
// answer: protocol 6, non-tensor bulk copies (UBLKCP) are reported and do not qualify
// expect: outcome=correct paper=true strict=true proof=absent stages=compare,prove
#include "gemm.cuh"

__global__ void copy(const bf16* from) {
  __shared__ __align__(128) bf16 tile[8 * 64];
  __shared__ uint64_t barrier;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(shared_address(&barrier)) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(
                   shared_address(tile)),
               "l"(from), "r"(shared_address(&barrier)) : "memory");
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(shared_address(&barrier)) : "memory");
}

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  copy<<<1, 1>>>(static_cast<const bf16*>(a.data_ptr()));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
