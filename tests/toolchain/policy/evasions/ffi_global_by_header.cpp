// expect: paper=ok strict=violation rule=ffi_registry
// The same through TVM-FFI's own headers.
#include <tvm/ffi/tvm_ffi.h>
int run(int x) { return tvm::ffi::Function::GetGlobalRequired("testing.add_one")(x).cast<int>(); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
