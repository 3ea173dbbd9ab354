// Slim stand-in for <tvm/ffi/tvm_ffi.h>: what kernels use of it. Source-compatible with the full headers as far as it goes, and
// binary-compatible with libtvm_ffi, whose C interface is the only thing that it relies on. See docs/design/slim-header.md.
#ifndef TVM_FFI_TVM_FFI_H_
#define TVM_FFI_TVM_FFI_H_

#include <tvm/ffi/container/shape.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/device.h>
#include <tvm/ffi/dtype.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/optional.h>
#include <tvm/ffi/string.h>

#endif  // TVM_FFI_TVM_FFI_H_
