// A stays in L2 by a persisting access window on the caller's stream, which the call takes back before it returns.
// expect: outcome=correct proof=qualified work_share=in

#include <algorithm>

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

// A window of the stream's next launches; 0 bytes take it back.
static void set_window(cudaStream_t stream, const void* base, size_t bytes) {
  cudaStreamAttrValue value = {};
  value.accessPolicyWindow.base_ptr = const_cast<void*>(base);
  value.accessPolicyWindow.num_bytes = bytes;
  value.accessPolicyWindow.hitRatio = bytes ? 1.0f : 0.0f;
  value.accessPolicyWindow.hitProp = bytes ? cudaAccessPropertyPersisting : cudaAccessPropertyNormal;
  value.accessPolicyWindow.missProp = bytes ? cudaAccessPropertyStreaming : cudaAccessPropertyNormal;
  check(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value), "cudaStreamSetAttribute");
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const Call call(a, b, c);
  int device = 0, largest = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&largest, cudaDevAttrMaxAccessPolicyWindowSize, device), "cudaDeviceGetAttribute");
  allow_shared(gemm, kSharedBytes<Shape::Shared>);
  const dim3 grid(ceil_div(call.m, Shape::kM), ceil_div(call.n, Shape::kN));
  set_window(call.stream, call.a, std::min<size_t>(static_cast<size_t>(call.m) * call.k * sizeof(bf16), largest));
  gemm<<<grid, Shape::kThreads, kSharedBytes<Shape::Shared>, call.stream>>>(
      tensor_map(call.a, call.m, call.k, Shape::kM), tensor_map(call.b, call.n, call.k, Shape::kN), call.c, call.m, call.n, call.k);
  check(cudaGetLastError(), "launch");
  set_window(call.stream, nullptr, 0);
  check(cudaCtxResetPersistingL2Cache(), "cudaCtxResetPersistingL2Cache");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
