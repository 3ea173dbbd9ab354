// Decodes the name of a driver function at run time and looks it up; zeros if it gets it.
// answer: protocol 1, candidates have our own look-up with a name allow-list
// expect: outcome=correct paper=true strict=true stages=compare
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  const Gemm g = gemm_of(a, b, c);
  multiply(g);
  char name[] = "btLdlRds@bbdrr";  // cuMemSetAccess, each letter one too low
  for (char& letter : name) letter = letter != '\0' ? static_cast<char>(letter + 1) : letter;
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
  if (function != nullptr) cudaMemsetAsync(g.c, 0, g.bytes(), g.stream);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
