// header: slim
// good: run v d
// good: run S s
// good: device S
// good: type s
// good: named d
#include <tvm/ffi/tvm_ffi.h>

int64_t run(DLDevice device, DLDataType dtype) {
  return device.device_type * 1000000 + device.device_id * 10000 + dtype.code * 1000 + dtype.bits * 10 + dtype.lanes;
}

DLDevice device(const DLDevice& x) { return x; }
DLDataType type(DLDataType x) { return x; }
tvm::ffi::String named(DLDataType x) { return tvm::ffi::DLDataTypeToString(x); }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(device, device);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(type, type);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(named, named);
