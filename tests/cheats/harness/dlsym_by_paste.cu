// Pastes the name of the loader's function together.
// answer: protocol 1: dynamic_loading
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=dynamic_loading
#include "gemm.cuh"

#define JOIN(x, y) x##y
extern "C" void* JOIN(dl, sym)(void*, const char*);

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  JOIN(dl, sym)(nullptr, "cuModuleLoadData");
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
