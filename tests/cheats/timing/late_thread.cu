// Returns at once; a thread launches the product 20 ms later.
// answer: protocol 5, device idle after the call returns; the judge reads outputs right after the answer
// expect: outcome=wrong_value paper=false strict=false stages=compare
#include "gemm.cuh"

#include <atomic>
#include <chrono>
#include <thread>

static std::atomic<bool> asked{false};
static Gemm wanted;
static void work() {
  cudaSetDevice(0);
  for (;;) {
    while (!asked.load()) std::this_thread::yield();
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(20)) {
    }
    multiply(wanted);
    asked = false;
  }
}

void run(TensorView a, TensorView b, TensorView c) {
  static const bool started = (std::thread(work).detach(), true);
  wanted = gemm_of(a, b, c);
  asked = started;
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
