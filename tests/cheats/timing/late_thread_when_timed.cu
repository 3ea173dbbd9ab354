// Honest while compared; once timed, launches next to nothing and lets a thread launch the product after the call.
// answer: protocol 5, device idle after the call returns (late work): a flag, tampered in strict
// expect: outcome=tampered paper=true strict=false flags=late_work stages=compare,time
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
    while (std::chrono::steady_clock::now() - begin < std::chrono::microseconds(40)) {
    }
    multiply(wanted);
    asked = false;
  }
}

void run(TensorView a, TensorView b, TensorView c) {
  static int calls = 0;
  if (++calls <= kCompared) return multiply(gemm_of(a, b, c));
  static const bool started = (std::thread(work).detach(), true);
  while (asked.load()) std::this_thread::yield();
  nothing<<<1, 1, 0, gemm_of(a, b, c).stream>>>();
  wanted = gemm_of(a, b, c);
  asked = started;
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
