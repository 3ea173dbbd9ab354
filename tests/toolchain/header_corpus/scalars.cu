// header: slim
// good: run i i i b f f
// good: narrow j
// good: choose i
// good: half f
#include <cstdint>
#include <tvm/ffi/tvm_ffi.h>

enum Mode { kForward = 0, kBackward = 5 };
enum class Layout : uint8_t { kRow, kColumn };

double run(int32_t a, int64_t b, size_t c, bool d, float e, double f) {
  return a + 2.0 * static_cast<double>(b) + 3.0 * static_cast<double>(c) + (d ? 0.25 : 0.5) + 4.0 * static_cast<double>(e) + 5.0 * f;
}

uint8_t narrow(int16_t x) { return static_cast<uint8_t>(x); }
Mode choose(Mode mode) { return mode == kBackward ? kForward : mode; }
Layout half(float x) { return x > 1 ? Layout::kColumn : Layout::kRow; }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(narrow, narrow);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(choose, choose);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(half, half);
