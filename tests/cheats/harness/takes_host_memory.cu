// Takes memory of the host until it gets no more.
// answer: protocol 8, child memory
// expect: outcome=runtime_error paper=false strict=false kind=exception text=bad_alloc stages=compare
#include "gemm.cuh"

#include <vector>

void run(TensorView a, TensorView b, TensorView c) {
  static std::vector<std::vector<char>> taken;
  for (int i = 0; i < 1024; ++i) taken.emplace_back(size_t{1} << 28, 'x');
  multiply(gemm_of(a, b, c));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
