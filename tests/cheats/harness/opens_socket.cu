// Asks the network for the answer.
// answer: protocol 1: process_control
// expect: gpu=false outcome=policy_violation paper=none strict=false rule=process_control
#include "gemm.cuh"

#include <sys/socket.h>

void run(TensorView a, TensorView b, TensorView c) {
  multiply(gemm_of(a, b, c));
  socket(AF_INET, SOCK_STREAM, 0);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
