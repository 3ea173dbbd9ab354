// header: slim
// good: run t
// good: opaque p
// good: shown n
#include <tvm/ffi/tvm_ffi.h>

int64_t run(DLTensor* x) { return x->ndim * 100 + x->dtype.bits + (x->strides == nullptr); }
void* opaque(void* x) { return x; }
void shown(void* x) { TVM_FFI_ICHECK(x != nullptr) << "x is " << x << " and " << static_cast<float*>(x); }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(opaque, opaque);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(shown, shown);
