// header: error
#include <tvm/ffi/tvm_ffi.h>

void elsewhere(int x);
void run(int x) { elsewhere(x); }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
