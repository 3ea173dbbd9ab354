// Once timed, does nothing on the device in a call; a thread launches the product right behind it.
// answer: protocol 5, late work, and calls that did nothing on the device are evidence
// expect: outcome=tampered paper=true strict=false stages=compare,time
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
    while (std::chrono::steady_clock::now() - begin < std::chrono::microseconds(20)) {
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
  wanted = gemm_of(a, b, c);
  asked = started;
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
