// All work runs on a non-blocking stream of the kernel's own; the caller's stream waits for it.
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

// Streams and events that are made once and kept.
struct Fork {
  cudaStream_t streams[1];
  cudaEvent_t begun, ended[1];

  Fork() {
    check(cudaEventCreateWithFlags(&begun, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    for (int i = 0; i < 1; ++i) {
      check(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking), "stream");
      check(cudaEventCreateWithFlags(&ended[i], cudaEventDisableTiming), "cudaEventCreateWithFlags");
    }
  }
};

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const Call call(a, b, c);
  static Fork fork;
  allow_shared(gemm, kSharedBytes<Shape::Shared>);
  const dim3 grid(ceil_div(call.m, Shape::kM), ceil_div(call.n, Shape::kN));
  check(cudaEventRecord(fork.begun, call.stream), "cudaEventRecord");
  check(cudaStreamWaitEvent(fork.streams[0], fork.begun, 0), "cudaStreamWaitEvent");
  gemm<<<grid, Shape::kThreads, kSharedBytes<Shape::Shared>, fork.streams[0]>>>(
      tensor_map(call.a, call.m, call.k, Shape::kM), tensor_map(call.b, call.n, call.k, Shape::kN), call.c, call.m, call.n, call.k);
  check(cudaGetLastError(), "launch");
  check(cudaEventRecord(fork.ended[0], fork.streams[0]), "cudaEventRecord");
  check(cudaStreamWaitEvent(call.stream, fork.ended[0], 0), "cudaStreamWaitEvent");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
