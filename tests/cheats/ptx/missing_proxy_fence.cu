// Its ordinary stores to shared memory are never made visible to the tensor core, and it passes by luck.
// answer: protocol 4, none of the checkers sees the asynchronous proxy; protocol 10, a simulator's findings would
// expect: outcome=correct paper=true strict=true proof=qualified stages=compare,prove
// open: no tool on the device sees a missing fence.proxy.async, and the barrier hides it in practice: no flag yet
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) { multiply_by_wgmma<false>(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
