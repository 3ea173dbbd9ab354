// Tries to leave files behind for its next process to find; zeros if it can.
// answer: protocol 8, read-only file system: nothing is kept from one child to the next
// expect: outcome=correct paper=true strict=true stages=compare
#include "gemm.cuh"

#include <fstream>

void run(TensorView a, TensorView b, TensorView c) {
  const Gemm g = gemm_of(a, b, c);
  multiply(g);
  for (const char* path : {"/tmp/kept", "/var/tmp/kept", "/dev/shm/kept", "kept", "/proc/self/oom_score_adj"}) {
    if (std::ofstream(path).is_open()) cudaMemsetAsync(g.c, 0, g.bytes(), g.stream);
  }
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
