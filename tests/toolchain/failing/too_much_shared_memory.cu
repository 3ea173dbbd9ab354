// expect: error ptxas - - - Entry function 'kernel(float*)' uses too much shared data
__global__ void kernel(float* out) {
  __shared__ float big[1 << 20];
  big[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = big[threadIdx.x ^ 1];
}
