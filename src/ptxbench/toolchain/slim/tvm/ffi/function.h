// Slim stand-in for <tvm/ffi/function.h>: functions that are called with packed arguments, and nothing else of it.
#ifndef TVM_FFI_FUNCTION_H_
#define TVM_FFI_FUNCTION_H_

#include <tvm/ffi/error.h>
#include <tvm/ffi/optional.h>
#include <tvm/ffi/safe_call.h>
#include <tvm/ffi/slot.h>
#include <tvm/ffi/string.h>

#include <type_traits>
#include <utility>

// What the full header includes here, where the candidate names something of it (see standard.txt).
#ifdef PTXBENCH_STD_ARRAY
#include <array>
#endif
#ifdef PTXBENCH_STD_FUNCTIONAL
#include <functional>
#endif
#ifdef PTXBENCH_STD_UNORDERED_MAP
#include <unordered_map>
#endif
#ifdef PTXBENCH_STD_LIMITS
#include <limits>
#endif

namespace tvm {
namespace ffi {
namespace detail {

template <typename T>
using Plain = std::remove_const_t<std::remove_reference_t<T>>;

// Arguments may be T, const T, const T& and T&&.
template <typename T>
inline constexpr bool is_argument_v =
    (!std::is_reference_v<T> || std::is_rvalue_reference_v<T> != std::is_const_v<std::remove_reference_t<T>>)&&Slot<Plain<T>>::known;

using Namer = void (*)(MessageStream&);

template <typename R>
void NameResult(MessageStream& stream) {
  if constexpr (std::is_void_v<R>) {
    stream << "void";
  } else {
    Slot<R>::Name(stream);
  }
}

// What errors say of a function.
struct Signature {
  const char* name;
  const Namer* arguments;
  int count;
  Namer result;

  void Write(MessageStream& stream) const {
    stream << name << "(";
    for (int i = 0; i < count; ++i) {
      stream << (i == 0 ? "" : ", ") << i << ": ";
      arguments[i](stream);
    }
    stream << ") -> ";
    result(stream);
  }
};

template <>
struct Written<Signature> {
  static void Write(MessageStream& stream, const Signature& value) { value.Write(stream); }
};

[[noreturn, gnu::noinline, gnu::cold]] inline void ThrowCount(const Signature& signature, int32_t got) {
  TVM_FFI_THROW(TypeError) << "Mismatched number of arguments when calling: `" << signature << "`. Expected " << signature.count
                           << " but got " << got << " arguments";
  TVM_FFI_UNREACHABLE();
}

[[noreturn, gnu::noinline, gnu::cold]] inline void ThrowType(const Signature& signature, int index, const TVMFFIAny& got) {
  MessageStream expected;
  signature.arguments[index](expected);
  const TVMFFIByteArray& key = TVMFFIGetTypeInfo(got.type_index)->type_key;
  TVM_FFI_THROW(TypeError) << "Mismatched type on argument #" << index << " when calling: `" << signature << "`. Expected `"
                           << expected << "` but got `" << std::string_view(key.data, key.size) << '`';
  TVM_FFI_UNREACHABLE();
}

// Converts itself when the function is called, so that arguments are converted in the order of the full header.
template <typename T>
struct Argument {
  const Signature& signature;
  const TVMFFIAny* arguments;
  int index;

  operator Plain<T>() {  // NOLINT(google-explicit-constructor)
    if (TVM_FFI_PREDICT_FALSE(!Slot<Plain<T>>::Fits(arguments + index))) ThrowType(signature, index, arguments[index]);
    return Slot<Plain<T>>::Take(arguments + index);
  }
};

template <typename R, typename... Args>
struct Callable {
  static_assert((is_argument_v<Args> && ...), "the slim header does not know an argument's type");
  static_assert(std::is_void_v<R> || Slot<R>::stored, "the slim header does not know the result's type");

  template <typename F>
  static void Call(const char* name, const F& function, const TVMFFIAny* arguments, int32_t count, TVMFFIAny* result) {
    Run(name, function, arguments, count, result, std::index_sequence_for<Args...>{});
  }

 private:
  template <typename F, size_t... I>
  static void Run(const char* name, const F& function, [[maybe_unused]] const TVMFFIAny* arguments, int32_t count,
                  [[maybe_unused]] TVMFFIAny* result, std::index_sequence<I...>) {
    static constexpr Namer kNames[] = {&Slot<Plain<Args>>::Name..., nullptr};
    const Signature signature{name, kNames, static_cast<int>(sizeof...(Args)), &NameResult<R>};
    if (TVM_FFI_PREDICT_FALSE(count != static_cast<int32_t>(sizeof...(Args)))) ThrowCount(signature, count);
    if constexpr (std::is_void_v<R>) {
      function(Argument<Args>{signature, arguments, static_cast<int>(I)}...);
    } else {
      TVMFFIAny value;
      Slot<R>::Store(R(function(Argument<Args>{signature, arguments, static_cast<int>(I)}...)), &value);
      const TVMFFIAny before = *result;
      *result = value;
      if (before.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(before.v_obj);
    }
  }
};

template <typename T>
struct CallOperator;
template <typename C, typename R, typename... Args>
struct CallOperator<R (C::*)(Args...)> : Callable<R, Args...> {};
template <typename C, typename R, typename... Args>
struct CallOperator<R (C::*)(Args...) const> : Callable<R, Args...> {};

// A function pointer, or an object with one call operator, such as a lambda.
template <typename F>
struct Exported : CallOperator<decltype(&F::operator())> {};
template <typename R, typename... Args>
struct Exported<R (*)(Args...)> : Callable<R, Args...> {};

}  // namespace detail
}  // namespace ffi
}  // namespace tvm

// The local names are those of the full macro: a function that one of them hides cannot be exported with either.
#define TVM_FFI_DLL_EXPORT_TYPED_FUNC(ExportName, Function)                                                               \
  extern "C" {                                                                                                            \
  TVM_FFI_DLL_EXPORT int __tvm_ffi_##ExportName(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) { \
    TVM_FFI_SAFE_CALL_BEGIN();                                                                                            \
    using FuncInfo = ::tvm::ffi::detail::Exported<std::decay_t<decltype(Function)>>;                                      \
    static constexpr const char* name = #ExportName;                                                                      \
    FuncInfo::Call(name, Function, args, num_args, result);                                                               \
    TVM_FFI_SAFE_CALL_END();                                                                                              \
  }                                                                                                                       \
  }

#define TVM_FFI_DLL_EXPORT_TYPED_FUNC_DOC(ExportName, DocString)

#endif  // TVM_FFI_FUNCTION_H_
