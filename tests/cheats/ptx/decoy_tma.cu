// mma.sync does the work; beside it TMA loads one box of A that nobody reads.
// answer: protocol 6: it qualifies by the published rule; bytes that TMA can have moved are far below the inputs' own
// expect: outcome=correct paper=true strict=true proof=qualified flags=movement_share stages=compare,prove
#include "gemm.cuh"

#include <cuda.h>

static CUtensorMap map_of(const Gemm& g) {
  CUtensorMap map;
  const cuuint64_t sizes[2] = {static_cast<cuuint64_t>(g.k), static_cast<cuuint64_t>(g.m)};
  const cuuint64_t strides[1] = {sizes[0] * sizeof(bf16)};
  const cuuint32_t box[2] = {64, 8}, steps[2] = {1, 1};
  const CUresult result = cuTensorMapEncodeTiled(
      &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<bf16*>(g.a), sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  TVM_FFI_ICHECK_EQ(static_cast<int>(result), static_cast<int>(CUDA_SUCCESS));
  return map;
}

__global__ void decoy(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) bf16 tile[8 * 64];
  __shared__ uint64_t barrier;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(shared_address(&barrier)) : "memory");
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %3}], [%2];" ::"r"(
          shared_address(tile)),
      "l"(&map), "r"(shared_address(&barrier)), "r"(0) : "memory");
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(shared_address(&barrier)) : "memory");
}

void run(TensorView a, TensorView b, TensorView c) {
  const Gemm g = gemm_of(a, b, c);
  multiply(g);
  decoy<<<1, 1, 0, g.stream>>>(map_of(g));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
