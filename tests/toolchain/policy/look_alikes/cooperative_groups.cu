// expect: paper=ok strict=ok
// Cooperative groups.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void kernel(int *x) { auto warp = cg::tiled_partition<32>(cg::this_thread_block()); *x = warp.shfl_down(*x, 1); }
extern "C" __attribute__((visibility("default"))) int run(int *x) { kernel<<<1, 32>>>(x); return 0; }
