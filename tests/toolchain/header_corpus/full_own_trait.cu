// header: full
// good: run i
#include <tvm/ffi/tvm_ffi.h>

struct Pair { int low, high; };

namespace tvm::ffi {
template <>
struct TypeTraits<Pair> : public TypeTraitsBase {
  static std::optional<Pair> TryCastFromAnyView(const TVMFFIAny* src) {
    if (src->type_index != kTVMFFIInt) return std::nullopt;
    return Pair{static_cast<int>(src->v_int64 & 3), static_cast<int>(src->v_int64 >> 2)};
  }
  static std::string TypeStr() { return "Pair"; }
};
}  // namespace tvm::ffi

int run(Pair pair) { return pair.low * 10 + pair.high; }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
