// expect: paper=ok strict=ok
// A whole candidate in TVM-FFI form: checks, errors, containers.
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/string.h>
namespace ffi = tvm::ffi;
void run(ffi::TensorView x, ffi::TensorView y) {
    TVM_FFI_ICHECK_EQ(x.ndim(), 2) << "a matrix";
    if (x.size(1) != y.size(1)) TVM_FFI_THROW(ValueError) << "shapes";
    ffi::Array<ffi::String> names{"a", "b"};
    static_cast<float *>(y.data_ptr())[0] = static_cast<const float *>(x.data_ptr())[0] + names.size();
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
