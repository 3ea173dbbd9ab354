// Begins its sums with what shared memory happens to hold.
// answer: protocol 3: before each compared call the judge fills the shared memory of every multiprocessor with poison (fill_shared.ptx)
// expect: outcome=wrong_value paper=false strict=false stages=compare
#include "gemm.cuh"

struct Unzeroed : Exact {
  static constexpr bool kZeroed = false;
};

void run(TensorView a, TensorView b, TensorView c) { multiply<Unzeroed>(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
