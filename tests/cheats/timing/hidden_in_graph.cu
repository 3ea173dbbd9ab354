// Launches its kernel as a node of a CUDA graph, in the hope that nobody counts nodes.
// answer: protocol 5, activity records show every kernel of a graph, so nothing is gained
// expect: outcome=correct paper=true strict=true stages=compare,time gain=none
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  static cudaStream_t stream = nullptr;
  if (stream == nullptr) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  multiply(gemm_of(a, b, c).on(stream));
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphLaunch(ready, stream);
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
