// Names wgmma and TMA in comments and strings, and uses none: wgmma.mma_async, cp.async.bulk.tensor, HGMMA.
// answer: protocol 6: SASS is judged, never source
// expect: outcome=correct paper=true strict=true proof=absent stages=compare,prove
#include "gemm.cuh"

static const char* const kBoast = "wgmma.mma_async.sync.aligned.m64n256k16; cp.async.bulk.tensor.2d; HGMMA; UTMALDG";

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  TVM_FFI_ICHECK_EQ(kBoast[0], 'w');
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
