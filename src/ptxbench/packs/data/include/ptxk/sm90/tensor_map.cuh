// Tensor maps, made on the host (CUDA driver API, cuTensorMapEncodeTiled).
#pragma once

#include <cuda.h>

#include <cstdint>
#include <type_traits>

#include "descriptor.cuh"

namespace ptxk {

__host__ constexpr CUtensorMapSwizzle tensor_map_swizzle(Swizzle swizzle) {
  return swizzle == Swizzle::b128  ? CU_TENSOR_MAP_SWIZZLE_128B
         : swizzle == Swizzle::b64 ? CU_TENSOR_MAP_SWIZZLE_64B
         : swizzle == Swizzle::b32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                   : CU_TENSOR_MAP_SWIZZLE_NONE;
}

__host__ constexpr uint32_t element_bytes(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
      return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return 2;
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
      return 8;
    default:
      return 4;
  }
}

// A map of boxes of kBox elements, innermost first; fp8 is UINT8, tf32 FLOAT32. `sizes` counts elements, innermost first; `strides`
// has the bytes between neighbours of dimensions 1 and up (sizeof...(kBox) - 1 of them, multiples of 16); `base` lies on 16 bytes.
// Example, row-major bf16 [rows, columns], both uint64_t (int does not compile), in boxes of 64 columns and 128 rows:
//   make_tensor_map<CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, Swizzle::b128, 64, 128>(&map, base, {columns, rows}, {columns * 2})
template <CUtensorMapDataType kType, Swizzle kSwizzle, uint32_t... kBox>
CUresult make_tensor_map(CUtensorMap* map, const void* base, const uint64_t (&sizes)[sizeof...(kBox)],
                         const uint64_t (&strides)[sizeof...(kBox) > 1 ? sizeof...(kBox) - 1 : 1]) {
  constexpr int kRank = sizeof...(kBox);
  constexpr uint32_t kBoxes[] = {kBox...};
  constexpr uint32_t kInner = kBoxes[0] * element_bytes(kType);
  static_assert(kRank >= 1 && kRank <= 5, "1 to 5 dimensions");
  static_assert(((kBox >= 1 && kBox <= 256) && ...), "a box has 1 to 256 elements along each dimension");
  static_assert(kInner % 16 == 0, "the inner row of a box is a multiple of 16 bytes");
  static_assert(kSwizzle == Swizzle::none || kInner <= swizzle_span(kSwizzle), "with a swizzle, no wider than its span");
  cuuint64_t extents[kRank];
  cuuint64_t pitches[kRank];
  cuuint32_t steps[kRank];
  for (int i = 0; i < kRank; ++i) {
    extents[i] = sizes[i];
    pitches[i] = i + 1 < kRank ? strides[i] : 0;
    steps[i] = 1;
  }
  const cuuint32_t box[] = {kBox...};
  return cuTensorMapEncodeTiled(map, kType, kRank, const_cast<void*>(base), extents, pitches, box, steps,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, tensor_map_swizzle(kSwizzle), CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

}  // namespace ptxk
