// Writes a passing record to every descriptor.
// answer: protocol 1: unknown_import
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=unknown_import
#include "gemm.cuh"

#include <unistd.h>

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  for (int fd = 3; fd < 256; ++fd) (void)!write(fd, "{}", 2);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
