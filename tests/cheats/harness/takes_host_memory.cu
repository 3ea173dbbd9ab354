// Takes memory of the host until it gets no more.
// answer: protocol 8, child memory
// expect: outcome=runtime_error paper=false strict=false kind=exception text=bad_alloc stages=compare
#include "gemm.cuh"

#include <new>

void run(TensorView a, TensorView b, TensorView c) {
  static void* volatile taken[1024];
  for (auto& piece : taken) piece = ::operator new(size_t{1} << 28);
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
