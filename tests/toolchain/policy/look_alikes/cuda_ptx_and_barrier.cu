// expect: paper=ok strict=ok
// libcu++.
#include <cuda/barrier>
#include <cuda/ptx>
__global__ void kernel(int *x) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) { init(&bar, blockDim.x); cuda::ptx::fence_proxy_async(); }
    __syncthreads(); bar.arrive_and_wait(); x[threadIdx.x] = 1;
}
extern "C" __attribute__((visibility("default"))) int run(int *x) { kernel<<<1, 32>>>(x); return 0; }
