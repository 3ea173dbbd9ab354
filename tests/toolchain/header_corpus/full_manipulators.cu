// header: full
// good: run f
#include <iomanip>
#include <tvm/ffi/tvm_ffi.h>

void run(double x) { TVM_FFI_THROW(ValueError) << std::hex << 255 << std::setprecision(12) << x; }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
