// Slim stand-in for <tvm/ffi/error.h>: errors and checks. An error is an object of libtvm_ffi, made through its C interface.
#ifndef TVM_FFI_ERROR_H_
#define TVM_FFI_ERROR_H_

#include <tvm/ffi/base_detail.h>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/message.h>

#include <exception>
#include <optional>

// What the full header includes here, where the candidate names something of it (see standard.txt).
#ifdef PTXBENCH_STD_STRING
#include <string>
#endif
#ifdef PTXBENCH_STD_VECTOR
#include <vector>
#endif
#ifdef PTXBENCH_STD_SSTREAM
#include <sstream>
#endif
#ifdef PTXBENCH_STD_IOSTREAM
#include <iostream>
#endif
#ifdef PTXBENCH_STD_MEMORY
#include <memory>
#endif
#ifdef PTXBENCH_STD_TUPLE
#include <tuple>
#endif
#ifdef PTXBENCH_STD_STDEXCEPT
#include <stdexcept>
#endif
#ifdef PTXBENCH_STD_SYSTEM_ERROR
#include <system_error>
#endif

namespace tvm {
namespace ffi {

using TypeIndex = TVMFFITypeIndex;
using TypeInfo = TVMFFITypeInfo;

namespace detail {

// Borrowed bytes, from a literal or from a std::string of whoever includes <string>.
struct TextView {
  TextView(const char* text) : bytes{text, std::strlen(text)} {}                // NOLINT(google-explicit-constructor)
  TextView(const Text& text) : bytes{text.data(), text.size()} {}               // NOLINT(google-explicit-constructor)
  TextView(const TVMFFIByteArray* text) : bytes{text->data, text->size} {}      // NOLINT(google-explicit-constructor)
  template <typename Traits, typename Allocator>
  TextView(const std::basic_string<char, Traits, Allocator>& text) : bytes{text.data(), text.size()} {}  // NOLINT
  TextView(std::nullptr_t) = delete;
  TVMFFIByteArray bytes;
};

struct ErrorAccess;

}  // namespace detail

// Not exported (the full class is): libtvm_ffi has a class of this name and another layout, which must not take its place.
class Error : public std::exception {
 public:
  Error(detail::TextView kind, detail::TextView message, detail::TextView backtrace) {
    if (TVMFFIErrorCreate(&kind.bytes, &message.bytes, &backtrace.bytes, &handle_) != 0) throw std::bad_alloc();
  }
  Error(const Error& other) : std::exception(other), handle_(other.handle_) { TVMFFIObjectIncRef(handle_); }
  Error& operator=(const Error& other) {
    TVMFFIObjectIncRef(other.handle_);
    TVMFFIObjectDecRef(handle_);
    handle_ = other.handle_;
    return *this;
  }
  ~Error() override { TVMFFIObjectDecRef(handle_); }

  const char* what() const noexcept override { return cell()->message.data; }
  template <typename String = std::basic_string<char>>
  String kind() const {
    return String(cell()->kind.data, cell()->kind.size);
  }
  template <typename String = std::basic_string<char>>
  String message() const {
    return String(cell()->message.data, cell()->message.size);
  }

 private:
  struct Owned {
    TVMFFIObjectHandle handle;
  };
  explicit Error(Owned owned) : handle_(owned.handle) {}
  const TVMFFIErrorCell* cell() const { return TVMFFIErrorGetCellPtr(handle_); }

  TVMFFIObjectHandle handle_ = nullptr;
  friend struct detail::ErrorAccess;
};

struct detail::ErrorAccess {
  static Error TakeRaised() {
    TVMFFIObjectHandle handle;
    TVMFFIErrorMoveFromRaised(&handle);
    return Error(Error::Owned{handle});
  }
  static void Raise(const Error& error) { TVMFFIErrorSetRaised(error.handle_); }
};

inline Error EnvErrorAlreadySet() { return Error("EnvErrorAlreadySet", "", ""); }

namespace detail {

[[gnu::noinline, gnu::cold]] inline Error MoveFromSafeCallRaised() { return ErrorAccess::TakeRaised(); }
[[gnu::noinline, gnu::cold]] inline void SetSafeCallRaised(const Error& error) { ErrorAccess::Raise(error); }

// Throws where the full expression ends that it stands in: by then everything has been written to its stream.
class ErrorBuilder {
 public:
  [[gnu::noinline, gnu::cold]] ErrorBuilder(const char* kind, const TVMFFIByteArray* backtrace)
      : kind_(kind), backtrace_(backtrace->data, backtrace->size) {}
  [[noreturn, gnu::noinline, gnu::cold]] ~ErrorBuilder() noexcept(false) { throw Error(kind_, stream_.text(), backtrace_); }
  MessageStream& stream() { return stream_; }

 private:
  const char* kind_;
  Text backtrace_;
  MessageStream stream_;
};

// What a comparison has to say for itself; nothing when it holds.
class Comparison {
 public:
  Comparison() = default;
  template <typename X, typename Y>
  [[gnu::noinline, gnu::cold]] static Comparison Failed(const X& x, const Y& y) {
    Comparison result;
    result.failed_ = true;
    result.stream_ << " (" << x << " vs. " << y << ") ";
    return result;
  }
  explicit operator bool() const { return failed_; }
  const MessageStream& operator*() const { return stream_; }

 private:
  MessageStream stream_;
  bool failed_ = false;
};

template <>
struct Written<MessageStream> {
  static void Write(MessageStream& stream, const MessageStream& value) {
    stream.Put(value.text().data(), value.text().size());
  }
};

// The second form takes what cannot be bound to a reference, such as bit fields.
#define TVM_FFI_CHECK_FUNC(name, op)                                                            \
  template <typename X, typename Y>                                                             \
  inline Comparison LogCheck##name(const X& x, const Y& y) {                                    \
    if (TVM_FFI_PREDICT_TRUE(x op y)) return Comparison();                                      \
    return Comparison::Failed(x, y);                                                            \
  }                                                                                             \
  inline Comparison LogCheck##name(int x, int y) { return LogCheck##name<int, int>(x, y); }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
TVM_FFI_CHECK_FUNC(_LT, <)
TVM_FFI_CHECK_FUNC(_GT, >)
TVM_FFI_CHECK_FUNC(_LE, <=)
TVM_FFI_CHECK_FUNC(_GE, >=)
TVM_FFI_CHECK_FUNC(_EQ, ==)
TVM_FFI_CHECK_FUNC(_NE, !=)
#pragma GCC diagnostic pop

}  // namespace detail

#define TVM_FFI_THROW(ErrorKind) \
  ::tvm::ffi::detail::ErrorBuilder(#ErrorKind, TVMFFIBacktrace(__FILE__, __LINE__, TVM_FFI_FUNC_SIG, 0)).stream()

// The macros call each other as the full ones do: that decides how far a condition is expanded before it becomes text.
#define TVM_FFI_CHECK(cond, ErrorKind) \
  if (TVM_FFI_PREDICT_FALSE(!(cond))) TVM_FFI_THROW(ErrorKind) << "Check failed: (" #cond << ") is false: "

#define TVM_FFI_CHECK_BINARY_OP(name, op, x, y, ErrorKind)                    \
  if (auto __tvm_ffi_log_err = ::tvm::ffi::detail::LogCheck##name(x, y))      \
  TVM_FFI_THROW(ErrorKind) << "Check failed: " << #x " " #op " " #y << *__tvm_ffi_log_err << ": "

#define TVM_FFI_CHECK_LT(x, y, ErrorKind) TVM_FFI_CHECK_BINARY_OP(_LT, <, x, y, ErrorKind)
#define TVM_FFI_CHECK_GT(x, y, ErrorKind) TVM_FFI_CHECK_BINARY_OP(_GT, >, x, y, ErrorKind)
#define TVM_FFI_CHECK_LE(x, y, ErrorKind) TVM_FFI_CHECK_BINARY_OP(_LE, <=, x, y, ErrorKind)
#define TVM_FFI_CHECK_GE(x, y, ErrorKind) TVM_FFI_CHECK_BINARY_OP(_GE, >=, x, y, ErrorKind)
#define TVM_FFI_CHECK_EQ(x, y, ErrorKind) TVM_FFI_CHECK_BINARY_OP(_EQ, ==, x, y, ErrorKind)
#define TVM_FFI_CHECK_NE(x, y, ErrorKind) TVM_FFI_CHECK_BINARY_OP(_NE, !=, x, y, ErrorKind)
#define TVM_FFI_CHECK_NOTNULL(x, ErrorKind) \
  ((x) == nullptr ? TVM_FFI_THROW(ErrorKind) << "Check not null: " #x << ' ', (x) : (x))

#define TVM_FFI_ICHECK(x) TVM_FFI_CHECK(x, InternalError)
#define TVM_FFI_ICHECK_LT(x, y) TVM_FFI_CHECK_LT(x, y, InternalError)
#define TVM_FFI_ICHECK_GT(x, y) TVM_FFI_CHECK_GT(x, y, InternalError)
#define TVM_FFI_ICHECK_LE(x, y) TVM_FFI_CHECK_LE(x, y, InternalError)
#define TVM_FFI_ICHECK_GE(x, y) TVM_FFI_CHECK_GE(x, y, InternalError)
#define TVM_FFI_ICHECK_EQ(x, y) TVM_FFI_CHECK_EQ(x, y, InternalError)
#define TVM_FFI_ICHECK_NE(x, y) TVM_FFI_CHECK_NE(x, y, InternalError)
#define TVM_FFI_ICHECK_NOTNULL(x) TVM_FFI_CHECK_NOTNULL(x, InternalError)

#ifndef NDEBUG
#define TVM_FFI_DCHECK(x) TVM_FFI_ICHECK(x)
#define TVM_FFI_DCHECK_LT(x, y) TVM_FFI_ICHECK_LT(x, y)
#define TVM_FFI_DCHECK_GT(x, y) TVM_FFI_ICHECK_GT(x, y)
#define TVM_FFI_DCHECK_LE(x, y) TVM_FFI_ICHECK_LE(x, y)
#define TVM_FFI_DCHECK_GE(x, y) TVM_FFI_ICHECK_GE(x, y)
#define TVM_FFI_DCHECK_EQ(x, y) TVM_FFI_ICHECK_EQ(x, y)
#define TVM_FFI_DCHECK_NE(x, y) TVM_FFI_ICHECK_NE(x, y)
#define TVM_FFI_DCHECK_NOTNULL(x) TVM_FFI_ICHECK_NOTNULL(x)
#endif  // NDEBUG

}  // namespace ffi
}  // namespace tvm
#endif  // TVM_FFI_ERROR_H_
