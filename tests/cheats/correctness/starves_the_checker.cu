// Reads behind the end of A; its first call takes all device memory for a while: the checker's process, starting meanwhile, finds none.
// answer: protocol 4, a check that could not start beside the candidate is made when it is gone
// expect: outcome=sanitizer_error paper=false strict=false stages=compare,sanitize
#include "gemm.cuh"

#include <unistd.h>

#include <vector>

__global__ void peek(const volatile unsigned* place) { (void)*place; }

static void take_all_for_a_while() {
  std::vector<void*> taken;
  for (size_t bytes = size_t{1} << 34; bytes >= size_t{1} << 20;) {
    void* place = nullptr;
    if (cudaMalloc(&place, bytes) == cudaSuccess) {
      taken.push_back(place);
    } else {
      bytes /= 2;
    }
  }
  cudaGetLastError();
  sleep(2);
  for (void* place : taken) cudaFree(place);
}

void run(TensorView a, TensorView b, TensorView c) {
  static bool first = true;
  if (first) take_all_for_a_while();
  first = false;
  const Gemm g = gemm_of(a, b, c);
  multiply(g);
  peek<<<1, 1, 0, g.stream>>>(reinterpret_cast<const unsigned*>(g.a + size_t(g.m) * g.k));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
