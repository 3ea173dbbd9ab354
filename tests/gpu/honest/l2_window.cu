// A is to stay in L2: a persisting access window for this launch alone, and nothing persists when the call returns.
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

// Sets some of L2 aside, once, and returns the widest window in bytes.
static int allow_persisting() {
  int device = 0, widest = 0, largest = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&widest, cudaDevAttrMaxAccessPolicyWindowSize, device), "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&largest, cudaDevAttrMaxPersistingL2CacheSize, device), "cudaDeviceGetAttribute");
  check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, std::min(largest, 16 << 20)), "cudaDeviceSetLimit");
  return widest;
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const Call call(a, b, c);
  static const int widest = allow_persisting();
  allow_shared(gemm, kSharedBytes<Shape::Shared>);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeAccessPolicyWindow;
  auto& window = attribute.val.accessPolicyWindow;
  window.base_ptr = const_cast<bf16*>(call.a);
  window.num_bytes = std::min<size_t>(static_cast<size_t>(call.m) * call.k * sizeof(bf16), widest);
  window.hitRatio = 1.0f;
  window.hitProp = cudaAccessPropertyPersisting;
  window.missProp = cudaAccessPropertyStreaming;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(ceil_div(call.m, Shape::kM), ceil_div(call.n, Shape::kN));
  config.blockDim = dim3(Shape::kThreads);
  config.dynamicSmemBytes = kSharedBytes<Shape::Shared>;
  config.stream = call.stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  const CUtensorMap map_a = tensor_map(call.a, call.m, call.k, Shape::kM);
  const CUtensorMap map_b = tensor_map(call.b, call.n, call.k, Shape::kN);
  check(cudaLaunchKernelEx(&config, gemm, map_a, map_b, call.c, call.m, call.n, call.k), "cudaLaunchKernelEx");
  check(cudaCtxResetPersistingL2Cache(), "cudaCtxResetPersistingL2Cache");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
