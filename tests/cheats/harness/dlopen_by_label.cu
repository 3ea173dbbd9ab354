// Has the loader's function under another name, by an assembler label.
// answer: protocol 1: dynamic_loading
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=dynamic_loading
#include "gemm.cuh"

extern "C" void* harmless(const char*, int) __asm__("dlopen");

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  harmless("libcublas.so.13", 2);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
