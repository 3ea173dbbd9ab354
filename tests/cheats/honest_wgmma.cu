// The product as it should be, by wgmma: what cheats on the proof begin with.
// answer: protocol 6, executed and predicate-true HGMMA that did all of the work
// expect: outcome=correct paper=true strict=true stages=compare,sanitize,time,prove proof=qualified without=work_share,late_work
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) { multiply_by_wgmma(gemm_of(a, b, c)); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
