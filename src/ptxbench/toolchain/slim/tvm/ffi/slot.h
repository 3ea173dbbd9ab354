// Slim stand-in for what <tvm/ffi/type_traits.h> says of numbers: how a value is read from an argument, named in an error and
// returned. The rules are those of the full header: an int is taken where a float is asked for, a bool where an int is.
#ifndef PTXBENCH_SLIM_SLOT_H_
#define PTXBENCH_SLIM_SLOT_H_

#include <tvm/ffi/c_api.h>
#include <tvm/ffi/error.h>

#include <type_traits>

namespace tvm {
namespace ffi {
namespace detail {

// A type that may be an argument (`Take`, where `Fits` says that it can be) or a result (`Store`, where `stored`). `Name` writes what
// errors call it.
template <typename T, typename = void>
struct Slot {
  static constexpr bool known = false;
  static constexpr bool stored = false;
};

template <bool kStored>
struct KnownSlot {
  static constexpr bool known = true;
  static constexpr bool stored = kStored;
};

inline void StorePlain(TVMFFIAny* result, int32_t type_index) {
  result->type_index = type_index;
  result->zero_padding = 0;
  result->v_uint64 = 0;
}

inline bool IsWhole(const TVMFFIAny* source) {
  return source->type_index == kTVMFFIInt || source->type_index == kTVMFFIBool;
}

template <>
struct Slot<bool> : KnownSlot<true> {
  static bool Fits(const TVMFFIAny* source) { return IsWhole(source); }
  static bool Take(const TVMFFIAny* source) { return source->v_int64 != 0; }
  static void Name(MessageStream& stream) { stream << "bool"; }
  static void Store(bool value, TVMFFIAny* result) {
    StorePlain(result, kTVMFFIBool);
    result->v_int64 = value ? 1 : 0;
  }
};

template <typename T, bool = std::is_enum_v<T>>
inline constexpr bool is_whole_v = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <typename T>
inline constexpr bool is_whole_v<T, true> = std::is_integral_v<std::underlying_type_t<T>>;

template <typename T>
struct Slot<T, std::enable_if_t<is_whole_v<T>>> : KnownSlot<true> {
  static bool Fits(const TVMFFIAny* source) { return IsWhole(source); }
  static T Take(const TVMFFIAny* source) { return T(source->v_int64); }
  static void Name(MessageStream& stream) { stream << "int"; }
  static void Store(T value, TVMFFIAny* result) {
    StorePlain(result, kTVMFFIInt);
    result->v_int64 = static_cast<int64_t>(value);
  }
};

template <typename T>
struct Slot<T, std::enable_if_t<std::is_floating_point_v<T>>> : KnownSlot<true> {
  static bool Fits(const TVMFFIAny* source) { return source->type_index == kTVMFFIFloat || IsWhole(source); }
  static T Take(const TVMFFIAny* source) {
    return source->type_index == kTVMFFIFloat ? T(source->v_float64) : T(source->v_int64);
  }
  static void Name(MessageStream& stream) { stream << "float"; }
  static void Store(T value, TVMFFIAny* result) {
    StorePlain(result, kTVMFFIFloat);
    result->v_float64 = static_cast<double>(value);
  }
};

template <>
struct Slot<void*> : KnownSlot<true> {
  static bool Fits(const TVMFFIAny* source) {
    return source->type_index == kTVMFFIOpaquePtr || source->type_index == kTVMFFINone;
  }
  static void* Take(const TVMFFIAny* source) { return source->type_index == kTVMFFIOpaquePtr ? source->v_ptr : nullptr; }
  static void Name(MessageStream& stream) { stream << "void*"; }
  static void Store(void* value, TVMFFIAny* result) {
    StorePlain(result, kTVMFFIOpaquePtr);
    result->v_ptr = value;
  }
};

}  // namespace detail
}  // namespace ffi
}  // namespace tvm
#endif  // PTXBENCH_SLIM_SLOT_H_
