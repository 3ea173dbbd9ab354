// header: full
// good: run
#include <tvm/ffi/tvm_ffi.h>

static int which = __COUNTER__;

int run() { return which; }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
