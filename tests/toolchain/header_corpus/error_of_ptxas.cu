// header: error
#include <tvm/ffi/tvm_ffi.h>

__global__ void kernel(int* p) { asm volatile("wgmma.no_such.sync.aligned;"); *p = 1; }

void run(tvm::ffi::TensorView x) { kernel<<<1, 1>>>(static_cast<int*>(x.data_ptr())); }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
