// Lays one operand out anew in memory of its own, once for each address, and multiplies by that ever after.
// answer: protocol 3, fresh inputs in the same place for every draw: work that depends on data belongs into every call
// expect: outcome=wrong_value paper=false strict=false stages=compare
#include "gemm.cuh"

#include <map>

void run(TensorView a, TensorView b, TensorView c) {
  static std::map<void*, bf16*> prepared;
  Gemm g = gemm_of(a, b, c);
  bf16*& kept = prepared[b.data_ptr()];
  if (kept == nullptr) {
    const size_t bytes = sizeof(bf16) * g.n * g.k;
    TVM_FFI_ICHECK_EQ(static_cast<int>(cudaMalloc(&kept, bytes)), 0);
    cudaMemcpyAsync(kept, g.b, bytes, cudaMemcpyDeviceToDevice, g.stream);
  }
  g.b = kept;
  multiply(g);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
