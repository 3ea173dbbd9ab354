// The two halves of the columns run on two streams of the kernel's own, which start and end with the caller's (events).
// expect: outcome=correct proof=qualified work_share=in

#include "hopper.cuh"

using Shape = Tile<128, 2, 4>;

__global__ void __launch_bounds__(Shape::kThreads, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, bf16* c, int m, int n, int k,
         int first_column) {
  extern __shared__ uint8_t raw[];
  auto& shared = aligned_shared<Shape::Shared>(raw);
  const int row = blockIdx.x * Shape::kM, column = first_column + blockIdx.y * Shape::kN;
  float d[Shape::kN / 2];
  uint32_t turn = 0;
  Shape::start(shared);
  Shape::multiply(d, shared, &map_a, &map_b, row, column, 0, k / kTileK, turn);
  store(d, c, row + threadIdx.x / 128 * 64, column, m, n);
}

// Streams and events that are made once and kept.
struct Fork {
  cudaStream_t streams[2];
  cudaEvent_t begun, ended[2];

  Fork() {
    check(cudaEventCreateWithFlags(&begun, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    for (int i = 0; i < 2; ++i) {
      check(cudaStreamCreate(&streams[i]), "stream");
      check(cudaEventCreateWithFlags(&ended[i], cudaEventDisableTiming), "cudaEventCreateWithFlags");
    }
  }
};

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const Call call(a, b, c);
  static Fork fork;
  allow_shared(gemm, kSharedBytes<Shape::Shared>);
  const CUtensorMap map_a = tensor_map(call.a, call.m, call.k, Shape::kM);
  const CUtensorMap map_b = tensor_map(call.b, call.n, call.k, Shape::kN);
  const int tiles_n = ceil_div(call.n, Shape::kN), middle = tiles_n / 2;
  check(cudaEventRecord(fork.begun, call.stream), "cudaEventRecord");
  for (int i = 0; i < 2; ++i) {
    check(cudaStreamWaitEvent(fork.streams[i], fork.begun, 0), "cudaStreamWaitEvent");
    const dim3 grid(ceil_div(call.m, Shape::kM), i == 0 ? middle : tiles_n - middle);
    gemm<<<grid, Shape::kThreads, kSharedBytes<Shape::Shared>, fork.streams[i]>>>(map_a, map_b, call.c, call.m, call.n, call.k,
                                                                                  i == 0 ? 0 : middle * Shape::kN);
    check(cudaGetLastError(), "launch");
    check(cudaEventRecord(fork.ended[i], fork.streams[i]), "cudaEventRecord");
  }
  for (int i = 0; i < 2; ++i) {
    check(cudaStreamWaitEvent(call.stream, fork.ended[i], 0), "cudaStreamWaitEvent");
  }
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
