// Commits and waits for groups of wgmma that hold none.
// answer: protocol 6, a bare commit_group multiplies nothing and never qualifies
// expect: outcome=correct paper=true strict=true proof=absent stages=compare,prove
#include "gemm.cuh"

__global__ void keep_books() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  keep_books<<<1, kGroup>>>();
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
