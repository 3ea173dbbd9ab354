// Starts threads until it gets no more.
// answer: protocol 8, 64 threads: the next one is an exception
// expect: outcome=runtime_error paper=false strict=false kind=exception stages=compare
#include "gemm.cuh"

#include <chrono>
#include <thread>

void run(TensorView a, TensorView b, TensorView c) {
  for (int i = 0; i < 4096; ++i) {
    std::thread([] { std::this_thread::sleep_for(std::chrono::hours(1)); }).detach();
  }
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
