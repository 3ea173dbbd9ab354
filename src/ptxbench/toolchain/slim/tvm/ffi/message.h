// Slim stand-in for TVM-FFI: the text of an error, put together without the standard library's streams, which cost more to
// compile than a kernel. What is written looks as std::ostream would write it. A value is taken by its exact type and never
// converted: whatever is not known here does not compile, and the build turns to the full headers.
#ifndef PTXBENCH_SLIM_MESSAGE_H_
#define PTXBENCH_SLIM_MESSAGE_H_

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iosfwd>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tvm {
namespace ffi {
namespace detail {

template <typename...>
inline constexpr bool always_false_v = false;

// Bytes that grow, and a '\0' behind them.
class Text {
 public:
  Text() = default;
  Text(const char* data, size_t size) { Append(data, size); }
  Text(Text&& other) noexcept : data_(other.data_), size_(other.size_), capacity_(other.capacity_) {
    other.data_ = nullptr;
    other.size_ = other.capacity_ = 0;
  }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;
  ~Text() { std::free(data_); }

  [[gnu::noinline, gnu::cold]] void Append(const char* data, size_t size) {
    if (size_ + size + 1 > capacity_) {
      const size_t capacity = 2 * (size_ + size) + 64;
      void* grown = std::realloc(data_, capacity);
      if (grown == nullptr) throw std::bad_alloc();
      data_ = static_cast<char*>(grown);
      capacity_ = capacity;
    }
    if (size != 0) std::memcpy(data_ + size_, data, size);
    size_ += size;
    data_[size_] = '\0';
  }

  const char* data() const { return data_ == nullptr ? "" : data_; }
  size_t size() const { return size_; }

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

// How a class is written. A specialisation has `static void Write(MessageStream&, const T&)`.
template <typename T>
struct Written;

class MessageStream {
 public:
  MessageStream() = default;
  MessageStream(MessageStream&&) = default;

  // Without a template for what is written most: every length of a literal would be an instantiation of its own. These are taken
  // for exactly their types; for any other the template below is the better match.
  MessageStream& operator<<(const char* value) {
    PutString(value);
    return *this;
  }
  MessageStream& operator<<(int value) {
    PutInt(value);
    return *this;
  }
  MessageStream& operator<<(long value) {
    PutInt(value);
    return *this;
  }
  MessageStream& operator<<(unsigned long value) {
    PutUnsigned(value);
    return *this;
  }

  template <typename T>
  MessageStream& operator<<(const T& value) {
    using D = std::decay_t<const T>;
    if constexpr (std::is_same_v<D, bool>) {
      PutInt(value ? 1 : 0);
    } else if constexpr (std::is_same_v<D, char> || std::is_same_v<D, signed char> || std::is_same_v<D, unsigned char>) {
      const char one = static_cast<char>(value);
      Put(&one, 1);
    } else if constexpr (std::is_same_v<D, short> || std::is_same_v<D, int> || std::is_same_v<D, long> ||
                         std::is_same_v<D, long long>) {
      PutInt(value);
    } else if constexpr (std::is_same_v<D, unsigned short> || std::is_same_v<D, unsigned> ||
                         std::is_same_v<D, unsigned long> || std::is_same_v<D, unsigned long long>) {
      PutUnsigned(value);
    } else if constexpr (std::is_same_v<D, float> || std::is_same_v<D, double>) {
      PutDouble(value);
    } else if constexpr (std::is_enum_v<D>) {
      // Smaller underlying types would be written as characters or not, by rules that are better left to std::ostream.
      static_assert(std::is_convertible_v<D, int> && sizeof(D) >= sizeof(int), "the slim header does not write this enum");
      *this << +value;
    } else if constexpr (std::is_same_v<D, const char*> || std::is_same_v<D, char*>) {
      PutString(value);
    } else if constexpr (std::is_pointer_v<D>) {
      using Pointee = std::remove_pointer_t<D>;
      static_assert(std::is_void_v<Pointee> || std::is_class_v<Pointee> || std::is_same_v<std::remove_const_t<Pointee>, float> ||
                        std::is_same_v<std::remove_const_t<Pointee>, double> || std::is_same_v<std::remove_const_t<Pointee>, int>,
                    "the slim header does not write this pointer");
      static_assert(!std::is_volatile_v<Pointee>, "the slim header does not write pointers to volatile objects");
      PutPointer(value);
    } else {
      Written<D>::Write(*this, value);
    }
    return *this;
  }

  void Put(const char* data, size_t size) {
    if (!bad_) text_.Append(data, size);
  }

  const Text& text() const { return text_; }

 private:
  [[gnu::noinline, gnu::cold]] void PutInt(long long value) {
    char digits[32];
    Put(digits, static_cast<size_t>(std::snprintf(digits, sizeof(digits), "%lld", value)));
  }
  [[gnu::noinline, gnu::cold]] void PutUnsigned(unsigned long long value) {
    char digits[32];
    Put(digits, static_cast<size_t>(std::snprintf(digits, sizeof(digits), "%llu", value)));
  }
  // std::ostream writes six significant digits, without trailing zeros, unless told otherwise.
  [[gnu::noinline, gnu::cold]] void PutDouble(double value) {
    char digits[64];
    Put(digits, static_cast<size_t>(std::snprintf(digits, sizeof(digits), "%.6g", value)));
  }
  [[gnu::noinline, gnu::cold]] void PutPointer(const void* value) {
    if (value == nullptr) return Put("0", 1);
    char digits[32];
    Put(digits, static_cast<size_t>(std::snprintf(digits, sizeof(digits), "%p", value)));
  }
  // A null string puts a std::ostream into its bad state: nothing is written any more.
  [[gnu::noinline, gnu::cold]] void PutString(const char* value) {
    if (value == nullptr) {
      bad_ = true;
    } else {
      Put(value, std::strlen(value));
    }
  }

  Text text_;
  bool bad_ = false;
};

template <typename T>
struct Written {
  static_assert(always_false_v<T>, "the slim header does not write this type");
};

template <typename Traits, typename Allocator>
struct Written<std::basic_string<char, Traits, Allocator>> {
  static void Write(MessageStream& stream, const std::basic_string<char, Traits, Allocator>& value) {
    stream.Put(value.data(), value.size());
  }
};

template <typename Traits>
struct Written<std::basic_string_view<char, Traits>> {
  static void Write(MessageStream& stream, const std::basic_string_view<char, Traits>& value) {
    stream.Put(value.data(), value.size());
  }
};

}  // namespace detail
}  // namespace ffi
}  // namespace tvm
#endif  // PTXBENCH_SLIM_MESSAGE_H_
