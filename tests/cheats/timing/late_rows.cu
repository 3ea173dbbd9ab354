// Once timed, most rows are stored by the call and the last ones by a second kernel that a thread launches afterwards.
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

static Gemm rows(Gemm g, int first, int end) {
  g.a += static_cast<size_t>(first) * g.k;
  g.c += static_cast<size_t>(first) * g.n;
  g.m = end - first;
  return g;
}

void run(TensorView a, TensorView b, TensorView c) {
  static int calls = 0;
  const Gemm g = gemm_of(a, b, c);
  if (++calls <= kCompared) return multiply(g);
  static const bool started = (std::thread(work).detach(), true);
  while (asked.load()) std::this_thread::yield();
  multiply(rows(g, 0, kTile));
  wanted = rows(g, kTile, g.m);
  asked = started;
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
