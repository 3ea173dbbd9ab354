// Slim stand-in for <tvm/ffi/dtype.h>: data types, compared, named and read from their names.
#ifndef TVM_FFI_DTYPE_H_
#define TVM_FFI_DTYPE_H_

#include <dlpack/dlpack.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/string.h>

namespace tvm {
namespace ffi {

inline DLDataType StringToDLDataType(const String& text) {
  DLDataType dtype;
  const TVMFFIByteArray bytes{text.data(), text.size()};
  TVM_FFI_CHECK_SAFE_CALL(TVMFFIDataTypeFromString(&bytes, &dtype));
  return dtype;
}

inline String DLDataTypeToString(DLDataType dtype) {
  String text;
  TVM_FFI_CHECK_SAFE_CALL(TVMFFIDataTypeToString(&dtype, &text.value_));
  return text;
}

namespace detail {

template <>
struct Slot<DLDataType> : KnownSlot<true> {
  static bool Fits(const TVMFFIAny* source) {
    TVMFFIByteArray text;
    return source->type_index == kTVMFFIDataType || ReadText(source, true, &text);
  }
  static DLDataType Take(const TVMFFIAny* source) {
    TVMFFIByteArray text;
    return ReadText(source, true, &text) ? StringToDLDataType(String(text.data, text.size)) : source->v_dtype;
  }
  static void Name(MessageStream& stream) { stream << "DataType"; }
  static void Store(DLDataType value, TVMFFIAny* result) {
    StorePlain(result, kTVMFFIDataType);
    result->v_dtype = value;
  }
};

template <>
struct Written<DLDataType> {
  static void Write(MessageStream& stream, const DLDataType& value) { stream << DLDataTypeToString(value); }
};

}  // namespace detail
}  // namespace ffi
}  // namespace tvm

// In the global namespace, where DLDataType is.
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream, DLDataType dtype) {
  return stream << tvm::ffi::DLDataTypeToString(dtype);
}

inline bool operator==(const DLDataType& lhs, const DLDataType& rhs) {
  return lhs.code == rhs.code && lhs.bits == rhs.bits && lhs.lanes == rhs.lanes;
}

inline bool operator!=(const DLDataType& lhs, const DLDataType& rhs) { return !(lhs == rhs); }

#endif  // TVM_FFI_DTYPE_H_
