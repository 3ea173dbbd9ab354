// On the first, untimed call of a trial multiplies the inputs of all four slots; the other calls copy.
// answer: protocol 3, timed outputs on inputs that nobody could prepare
// expect: outcome=wrong_value|tampered paper=true strict=false stages=compare,time
#include "gemm.cuh"

static bf16* memory(size_t bytes) {
  void* kept = nullptr;
  TVM_FFI_ICHECK_EQ(static_cast<int>(cudaMalloc(&kept, bytes)), 0);
  return static_cast<bf16*>(kept);
}

// Slots lie one behind the other, each tensor between guard bands of 4 KiB.
constexpr size_t kGuards = 2 * 4096;

void run(TensorView a, TensorView b, TensorView c) {
  static int calls = 0;
  static bf16* results[kSlots];
  const Gemm g = gemm_of(a, b, c);
  if (calls++ < kCompared) return multiply(g);
  const int call = (calls - 1 - kCompared) % kTrial;
  for (int slot = 0; call == 0 && slot < kSlots; ++slot) {
    Gemm other = g;
    const size_t stride = (sizeof(bf16) * g.k * (g.m + size_t(g.n)) + 2 * kGuards) / sizeof(bf16);
    other.a += slot * stride;
    other.b += slot * stride;
    if (results[slot] == nullptr) results[slot] = memory(g.bytes());
    multiply(other.to(results[slot]));
  }
  cudaMemcpyAsync(g.c, results[call % kSlots], g.bytes(), cudaMemcpyDeviceToDevice, g.stream);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
