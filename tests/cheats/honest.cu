// The product as it should be, by mma.sync: what cheats begin with, and what their latency is held against.
// answer: protocol 3, every draw; protocol 5, the span of a call
// expect: outcome=correct paper=true strict=true stages=compare,sanitize,time,prove proof=absent without=late_work,clock_disagrees
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) { multiply(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
