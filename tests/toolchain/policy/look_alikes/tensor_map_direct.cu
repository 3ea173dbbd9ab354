// expect: paper=ok strict=ok
// The driver called directly for a tensor map.
#include <cuda.h>
extern "C" __attribute__((visibility("default"))) int run(CUtensorMap *map, void *data) {
    cuuint64_t sizes[2] = {64, 64}, strides[1] = {128}; cuuint32_t box[2] = {64, 64}, steps[2] = {1, 1}; const char *name = nullptr;
    CUresult result = cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return cuGetErrorString(result, &name) + result;
}
