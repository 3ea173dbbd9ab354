// header: slim
// good: run s
// The C interface, called by hand.
#include <tvm/ffi/tvm_ffi.h>

DLDataType run(const char* name) {
  const TVMFFIByteArray text{name, strlen(name)};
  DLDataType dtype;
  TVM_FFI_CHECK_SAFE_CALL(TVMFFIDataTypeFromString(&text, &dtype));
  TVMFFIAny printed;
  TVM_FFI_CHECK_SAFE_CALL(TVMFFIDataTypeToString(&dtype, &printed));
  if (printed.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(printed.v_obj);
  return dtype;
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
