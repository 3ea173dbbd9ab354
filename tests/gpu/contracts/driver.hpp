// The driver's functions that the pack's host code calls, found at run time: the programs link no libcuda.
#pragma once

#include <cuda.h>

#include "check.hpp"

extern "C" CUresult CUDAAPI cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* base,
                                                   const cuuint64_t* sizes, const cuuint64_t* strides, const cuuint32_t* box,
                                                   const cuuint32_t* steps, CUtensorMapInterleave interleave,
                                                   CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                                   CUtensorMapFloatOOBfill fill) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  CUDA_MUST(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result));
  if (found == nullptr) {
    return CUDA_ERROR_NOT_FOUND;
  }
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found)(map, type, rank, base, sizes, strides, box, steps, interleave,
                                                                     swizzle, promotion, fill);
}
