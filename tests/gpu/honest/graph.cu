// A CUDA graph of the launch is captured at the first call and launched from then on; other arguments update it.
// expect: outcome=correct proof=qualified work_share=in

#include "hopper.cuh"

using Shape = Tile<128, 2, 4>;

__global__ void __launch_bounds__(Shape::kThreads, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, bf16* c, int m, int n, int k) {
  extern __shared__ uint8_t raw[];
  auto& shared = aligned_shared<Shape::Shared>(raw);
  const int row = blockIdx.x * Shape::kM, column = blockIdx.y * Shape::kN;
  float d[Shape::kN / 2];
  uint32_t turn = 0;
  Shape::start(shared);
  Shape::multiply(d, shared, &map_a, &map_b, row, column, 0, k / kTileK, turn);
  store(d, c, row + threadIdx.x / 128 * 64, column, m, n);
}

struct Captured {
  cudaStream_t stream;
  cudaGraphExec_t executable = nullptr;
  const bf16* a = nullptr;
  const bf16* b = nullptr;
  bf16* c = nullptr;
  int m = 0;

  Captured() { check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }

  bool fits(const Call& call) const { return executable && a == call.a && b == call.b && c == call.c && m == call.m; }

  void capture(const Call& call) {
    cudaGraph_t graph;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    const dim3 grid(ceil_div(call.m, Shape::kM), ceil_div(call.n, Shape::kN));
    gemm<<<grid, Shape::kThreads, kSharedBytes<Shape::Shared>, stream>>>(
        tensor_map(call.a, call.m, call.k, Shape::kM), tensor_map(call.b, call.n, call.k, Shape::kN), call.c, call.m, call.n,
        call.k);
    check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    cudaGraphExecUpdateResultInfo result;
    if (!executable || cudaGraphExecUpdate(executable, graph, &result) != cudaSuccess) {
      (void)cudaGetLastError();  // of an update that could not be made
      if (executable) {
        check(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
      }
      check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    }
    check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    a = call.a;
    b = call.b;
    c = call.c;
    m = call.m;
  }
};

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const Call call(a, b, c);
  static Captured captured;
  allow_shared(gemm, kSharedBytes<Shape::Shared>);
  if (!captured.fits(call)) {
    captured.capture(call);
  }
  check(cudaGraphLaunch(captured.executable, call.stream), "cudaGraphLaunch");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
