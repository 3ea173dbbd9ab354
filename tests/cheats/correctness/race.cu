// Has no barrier between the stores to shared memory and the loads of other warps.
// answer: protocol 3, several draws; protocol 4, racecheck on request
// expect: outcome=wrong_value paper=false strict=false stages=compare
#include "gemm.cuh"

struct Hasty : Exact {
  static constexpr bool kBarrier = false;
};

void run(TensorView a, TensorView b, TensorView c) { multiply<Hasty>(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
