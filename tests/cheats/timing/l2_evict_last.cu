// After its work reads A once more with a policy that evicts it last, for the next call to find.
// answer: protocol 5, L2 is flushed before every iteration by writing twice its size, so nothing is gained
// expect: outcome=correct paper=true strict=true stages=compare,time gain=none
#include "gemm.cuh"

__global__ void hoard(const uint4* data, size_t count, unsigned* sink) {
  uint64_t policy;
  unsigned all = 0;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x) {
    uint4 v;
    asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(data + i), "l"(policy));
    all |= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (all == 0x12345678 && sink != nullptr) *sink = all;
}

void run(TensorView a, TensorView b, TensorView c) {
  const Gemm g = gemm_of(a, b, c);
  multiply(g);
  hoard<<<264, 512, 0, g.stream>>>(reinterpret_cast<const uint4*>(g.a), size_t(g.m) * g.k / 8, nullptr);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
