// Makes code writable to put a jump at another function's entry.
// answer: protocol 1: process_control
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=process_control
#include "gemm.cuh"

#include <cstdlib>
#include <sys/mman.h>

void run(TensorView a, TensorView b, TensorView c) {
  mprotect(reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(&std::abort) & ~uintptr_t{4095}), 4096, 7);
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
