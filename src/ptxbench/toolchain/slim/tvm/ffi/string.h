// Slim stand-in for <tvm/ffi/string.h>: text of up to seven bytes lies in the value itself, longer text in an object.
#ifndef TVM_FFI_STRING_H_
#define TVM_FFI_STRING_H_

#include <tvm/ffi/error.h>
#include <tvm/ffi/safe_call.h>
#include <tvm/ffi/slot.h>

#include <cstdlib>
#include <cstring>
#include <new>

// What the full header includes here, where the candidate names something of it (see standard.txt).
#ifdef PTXBENCH_STD_IOMANIP
#include <iomanip>
#endif
#ifdef PTXBENCH_STD_CCTYPE
#include <cctype>
#endif
#ifdef PTXBENCH_STD_LOCALE
#include <locale>
#endif
#ifdef PTXBENCH_STD_CTIME
#include <ctime>
#endif

namespace tvm {
namespace ffi {

namespace detail {

// An object that holds text of any length, made here: libtvm_ffi's own function puts short text into the value.
struct LargeText {
  TVMFFIObject header;
  TVMFFIByteArray bytes;

  static TVMFFIObject* Make(const char* data, size_t size) {
    char* memory = static_cast<char*>(std::malloc(sizeof(LargeText) + size + 1));
    if (memory == nullptr) throw std::bad_alloc();
    char* text = memory + sizeof(LargeText);
    std::memcpy(text, data, size);
    text[size] = '\0';
    auto* made = new (memory) LargeText{};
    made->header.combined_ref_count = (uint64_t{1} << 32) | 1;  // one weak and one strong reference
    made->header.type_index = kTVMFFIStr;
    made->header.deleter = [](void* self, int flags) {
      if ((flags & kTVMFFIObjectDeleterFlagBitMaskWeak) != 0) std::free(self);
    };
    made->bytes = TVMFFIByteArray{text, size};
    return &made->header;
  }
};

}  // namespace detail

class String {
 public:
  String() = default;
  String(std::nullptr_t) = delete;
  String(const char* text) : String(text, std::strlen(text)) {}  // NOLINT(google-explicit-constructor)
  String(const char* data, size_t size) {
    const TVMFFIByteArray bytes{data, size};
    TVM_FFI_CHECK_SAFE_CALL(TVMFFIStringFromByteArray(&bytes, &value_));
  }
  template <typename Traits, typename Allocator>
  String(const std::basic_string<char, Traits, Allocator>& text) : String(text.data(), text.size()) {}  // NOLINT
  // What is moved from a std::string becomes an object even if it is short, as with the full header.
  template <typename Traits, typename Allocator>
  String(std::basic_string<char, Traits, Allocator>&& text) {  // NOLINT(google-explicit-constructor)
    value_.v_obj = detail::LargeText::Make(text.data(), text.size());
    value_.type_index = kTVMFFIStr;
  }
  String(const String& other) : value_(other.value_) {
    if (large()) TVMFFIObjectIncRef(value_.v_obj);
  }
  String(String&& other) noexcept : value_(other.value_) { other.value_ = Empty(); }
  String& operator=(String other) noexcept {
    swap(other);
    return *this;
  }
  ~String() {
    if (large()) TVMFFIObjectDecRef(value_.v_obj);
  }
  void swap(String& other) noexcept { std::swap(value_, other.value_); }

  const char* data() const noexcept { return large() ? TVMFFIBytesGetByteArrayPtr(value_.v_obj)->data : value_.v_bytes; }
  const char* c_str() const noexcept { return data(); }
  size_t size() const noexcept { return large() ? TVMFFIBytesGetByteArrayPtr(value_.v_obj)->size : value_.small_str_len; }
  size_t length() const { return size(); }
  bool empty() const { return size() == 0; }
  template <typename Traits, typename Allocator>
  operator std::basic_string<char, Traits, Allocator>() const {  // NOLINT(google-explicit-constructor)
    return std::basic_string<char, Traits, Allocator>(data(), size());
  }

 private:
  static TVMFFIAny Empty() {
    TVMFFIAny value;
    value.type_index = kTVMFFISmallStr;
    value.zero_padding = 0;
    value.v_uint64 = 0;
    return value;
  }
  bool large() const { return value_.type_index >= kTVMFFIStaticObjectBegin; }

  TVMFFIAny value_ = Empty();
  template <typename, typename>
  friend struct detail::Slot;
  friend String DLDataTypeToString(DLDataType dtype);
};

namespace detail {

inline bool SameBytes(const char* left, size_t left_size, const char* right, size_t right_size) {
  return left_size == right_size && (left_size == 0 || std::memcmp(left, right, left_size) == 0);
}

// The text of an argument: a C string or a String; with `bytes` also a byte array or a Bytes.
inline bool ReadText(const TVMFFIAny* source, bool bytes, TVMFFIByteArray* text) {
  switch (source->type_index) {
    case kTVMFFIRawStr:
      *text = TVMFFIByteArray{source->v_c_str, std::strlen(source->v_c_str)};
      return true;
    case kTVMFFISmallBytes:
      if (!bytes) return false;
      [[fallthrough]];
    case kTVMFFISmallStr:
      *text = TVMFFIByteArray{source->v_bytes, source->small_str_len};
      return true;
    case kTVMFFIByteArrayPtr:
      if (bytes) *text = *static_cast<const TVMFFIByteArray*>(source->v_ptr);
      return bytes;
    case kTVMFFIBytes:
      if (!bytes) return false;
      [[fallthrough]];
    case kTVMFFIStr:
      *text = *TVMFFIBytesGetByteArrayPtr(source->v_obj);
      return true;
    default:
      return false;
  }
}

template <>
struct Slot<String> : KnownSlot<true> {
  static bool Fits(const TVMFFIAny* source) {
    return source->type_index == kTVMFFIRawStr || source->type_index == kTVMFFISmallStr || source->type_index == kTVMFFIStr;
  }
  static String Take(const TVMFFIAny* source) {
    if (source->type_index == kTVMFFIRawStr) return String(source->v_c_str);
    String value;
    value.value_ = *source;
    if (value.large()) TVMFFIObjectIncRef(source->v_obj);
    return value;
  }
  static void Name(MessageStream& stream) { stream << "str"; }
  static void Store(String value, TVMFFIAny* result) {
    *result = value.value_;
    value.value_ = String::Empty();
  }
};

template <>
struct Slot<const char*> : KnownSlot<false> {
  static bool Fits(const TVMFFIAny* source) { return source->type_index == kTVMFFIRawStr; }
  static const char* Take(const TVMFFIAny* source) { return source->v_c_str; }
  static void Name(MessageStream& stream) { stream << "const char*"; }
};

template <typename Traits, typename Allocator>
struct Slot<std::basic_string<char, Traits, Allocator>> : KnownSlot<true> {
  static bool Fits(const TVMFFIAny* source) {
    TVMFFIByteArray text;
    return ReadText(source, true, &text);
  }
  static std::basic_string<char, Traits, Allocator> Take(const TVMFFIAny* source) {
    TVMFFIByteArray text;
    ReadText(source, true, &text);
    return std::basic_string<char, Traits, Allocator>(text.data, text.size);
  }
  static void Name(MessageStream& stream) { stream << "std::string"; }
  static void Store(std::basic_string<char, Traits, Allocator> value, TVMFFIAny* result) {
    Slot<String>::Store(String(std::move(value)), result);
  }
};

template <>
struct Written<String> {
  static void Write(MessageStream& stream, const String& value) { stream.Put(value.data(), value.size()); }
};

}  // namespace detail

inline bool operator==(const String& lhs, const String& rhs) {
  return detail::SameBytes(lhs.data(), lhs.size(), rhs.data(), rhs.size());
}
inline bool operator==(const String& lhs, const char* rhs) {
  return detail::SameBytes(lhs.data(), lhs.size(), rhs, std::strlen(rhs));
}
inline bool operator==(const char* lhs, const String& rhs) { return rhs == lhs; }
template <typename Traits, typename Allocator>
bool operator==(const String& lhs, const std::basic_string<char, Traits, Allocator>& rhs) {
  return detail::SameBytes(lhs.data(), lhs.size(), rhs.data(), rhs.size());
}
template <typename Traits, typename Allocator>
bool operator==(const std::basic_string<char, Traits, Allocator>& lhs, const String& rhs) {
  return rhs == lhs;
}
inline bool operator!=(const String& lhs, const String& rhs) { return !(lhs == rhs); }
inline bool operator!=(const String& lhs, const char* rhs) { return !(lhs == rhs); }
inline bool operator!=(const char* lhs, const String& rhs) { return !(rhs == lhs); }
template <typename Traits, typename Allocator>
bool operator!=(const String& lhs, const std::basic_string<char, Traits, Allocator>& rhs) {
  return !(lhs == rhs);
}
template <typename Traits, typename Allocator>
bool operator!=(const std::basic_string<char, Traits, Allocator>& lhs, const String& rhs) {
  return !(rhs == lhs);
}
bool operator==(const String& lhs, std::nullptr_t) = delete;
bool operator==(std::nullptr_t, const String& rhs) = delete;
bool operator!=(const String& lhs, std::nullptr_t) = delete;
bool operator!=(std::nullptr_t, const String& rhs) = delete;

// Written without the stream's width, as the full header does.
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream, const String& text) {
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  return stream;
}

}  // namespace ffi
}  // namespace tvm
#endif  // TVM_FFI_STRING_H_
