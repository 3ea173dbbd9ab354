// header: full
// good: run
#include <tvm/ffi/tvm_ffi.h>

#ifdef TVM_FFI_ANY_H_
static int which = 1;
#else
static int which = 2;
#endif

int run() { return which; }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
