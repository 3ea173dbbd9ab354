// header: full
// good: run i
#define TVM_FFI_ALWAYS_LOG_BEFORE_THROW 1
#include <tvm/ffi/tvm_ffi.h>

void run(int x) { TVM_FFI_ICHECK_EQ(x, 0); }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
