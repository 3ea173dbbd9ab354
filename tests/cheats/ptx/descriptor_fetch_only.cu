// Fetches a tensor map into its cache, and loads nothing by it.
// answer: protocol 6, bookkeeping never qualifies: UTMACCTL
// expect: outcome=correct paper=true strict=true proof=absent stages=compare,prove
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

__global__ void prefetch(const __grid_constant__ CUtensorMap map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

void run(TensorView a, TensorView b, TensorView c) {
  const Gemm g = gemm_of(a, b, c);
  prefetch<<<1, 1, 0, g.stream>>>(map_of(g));
  multiply(g);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
