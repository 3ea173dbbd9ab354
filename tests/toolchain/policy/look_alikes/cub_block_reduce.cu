// expect: paper=ok strict=ok speed=slow
// CUB inside a block: not a device-wide algorithm.
#include <cub/block/block_reduce.cuh>
__global__ void kernel(float *x) {
    using Reduce = cub::BlockReduce<float, 128>; __shared__ typename Reduce::TempStorage storage;
    float sum = Reduce(storage).Sum(x[threadIdx.x]); if (threadIdx.x == 0) *x = sum;
}
extern "C" __attribute__((visibility("default"))) int run(float *x) { kernel<<<1, 128>>>(x); return 0; }
