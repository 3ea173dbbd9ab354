// header: full
// good: run i
#include <tvm/ffi/tvm_ffi.h>

using namespace std;

int64_t run(int64_t x) { return max<int64_t>(x, 3); }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
