// header: slim
// good: run t i
// good: captured i
// good: pointer i
// good: difference i f
#include <tvm/ffi/tvm_ffi.h>

static int base = 40;
static auto twice = [](int x) -> int { return 2 * x; };
static const auto difference = [](int a, const float& b) { return a - b; };
static int plain(int x) { return x + base; }
static int (*pointer)(int) = &plain;

struct Functor {
  int64_t operator()(const tvm::ffi::TensorView& x, int axis) const { return x.size(axis); }
};

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, Functor());
TVM_FFI_DLL_EXPORT_TYPED_FUNC(captured, twice);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(pointer, pointer);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(difference, difference);
