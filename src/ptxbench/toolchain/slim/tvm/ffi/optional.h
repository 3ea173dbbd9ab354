// Slim stand-in for <tvm/ffi/optional.h>. As in the full header, a value that can be stored is handed out by value, a view by
// reference.
#ifndef TVM_FFI_OPTIONAL_H_
#define TVM_FFI_OPTIONAL_H_

#include <tvm/ffi/error.h>
#include <tvm/ffi/slot.h>
#include <tvm/ffi/string.h>

#include <optional>

namespace tvm {
namespace ffi {

template <typename T, typename = void>
class Optional {
  static_assert(detail::Slot<T>::known, "the slim header knows no Optional of this type");
  using Shown = std::conditional_t<detail::Slot<T>::stored, T, const T&>;

 public:
  Optional() = default;
  Optional(std::nullopt_t) {}                                 // NOLINT(google-explicit-constructor)
  Optional(T value) : value_(std::move(value)) {}             // NOLINT(google-explicit-constructor)
  Optional(std::optional<T> value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return has_value(); }
  Shown operator*() const { return *value_; }
  Shown value() const {
    if (TVM_FFI_PREDICT_FALSE(!has_value())) TVM_FFI_THROW(RuntimeError) << "Back optional access";
    return *value_;
  }
  template <typename U = T>
  T value_or(U&& other) const {
    return has_value() ? *value_ : T(std::forward<U>(other));
  }
  bool operator==(std::nullopt_t) const noexcept { return !has_value(); }
  bool operator!=(std::nullopt_t) const noexcept { return has_value(); }

 private:
  std::optional<T> value_;
};

namespace detail {

template <typename T>
struct Slot<Optional<T>> : KnownSlot<Slot<T>::stored> {
  static bool Fits(const TVMFFIAny* source) { return source->type_index == kTVMFFINone || Slot<T>::Fits(source); }
  static Optional<T> Take(const TVMFFIAny* source) {
    if (source->type_index == kTVMFFINone) return Optional<T>();
    return Optional<T>(Slot<T>::Take(source));
  }
  static void Name(MessageStream& stream) {
    stream << "Optional<";
    Slot<T>::Name(stream);
    stream << ">";
  }
  static void Store(Optional<T> value, TVMFFIAny* result) {
    if (value.has_value()) {
      Slot<T>::Store(*value, result);
    } else {
      StorePlain(result, kTVMFFINone);
    }
  }
};

}  // namespace detail
}  // namespace ffi
}  // namespace tvm
#endif  // TVM_FFI_OPTIONAL_H_
