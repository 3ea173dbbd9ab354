// Begins its sums with what shared memory happens to hold.
// answer: protocol 3, several draws in one process: what the last kernel left there is not zero
// expect: outcome=wrong_value paper=false strict=false stages=compare
#include "gemm.cuh"

struct Unzeroed : Exact {
  static constexpr bool kZeroed = false;
};

void run(TensorView a, TensorView b, TensorView c) { multiply<Unzeroed>(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
