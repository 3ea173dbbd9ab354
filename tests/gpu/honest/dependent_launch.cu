// Programmatic dependent launch: the GEMM starts while the copy of A still runs, and waits for it on the device.
// expect: outcome=correct proof=qualified work_share=in

#include "hopper.cuh"

using Shape = Tile<128, 2, 4>;

// A into rows that are a multiple of 64 elements apart, as an operand that is padded or converted would be.
__global__ void copy(const uint4* from, uint4* to, int chunks) {
  asm volatile("griddepcontrol.launch_dependents;");
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < chunks; i += gridDim.x * blockDim.x) {
    to[i] = from[i];
  }
}

__global__ void __launch_bounds__(Shape::kThreads, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, bf16* c, int m, int n, int k) {
  extern __shared__ uint8_t raw[];
  auto& shared = aligned_shared<Shape::Shared>(raw);
  const int row = blockIdx.x * Shape::kM, column = blockIdx.y * Shape::kN;
  float d[Shape::kN / 2];
  uint32_t turn = 0;
  Shape::start(shared);
  // From here on the copy is complete; TMA, which reads through another proxy, must see it too.
  asm volatile("griddepcontrol.wait;\nfence.proxy.async;" ::: "memory");
  Shape::multiply(d, shared, &map_a, &map_b, row, column, 0, k / kTileK, turn);
  store(d, c, row + threadIdx.x / 128 * 64, column, m, n);
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const Call call(a, b, c);
  const size_t bytes = static_cast<size_t>(call.m) * call.k * sizeof(bf16);
  static bf16* copied = nullptr;
  static size_t room = 0;
  if (bytes > room) {
    check(cudaFree(copied), "cudaFree");
    check(cudaMalloc(reinterpret_cast<void**>(&copied), bytes), "cudaMalloc");
    room = bytes;
  }
  copy<<<512, 256, 0, call.stream>>>(reinterpret_cast<const uint4*>(call.a), reinterpret_cast<uint4*>(copied),
                                     static_cast<int>(bytes / sizeof(uint4)));
  check(cudaGetLastError(), "launch");
  allow_shared(gemm, kSharedBytes<Shape::Shared>);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(ceil_div(call.m, Shape::kM), ceil_div(call.n, Shape::kN));
  config.blockDim = dim3(Shape::kThreads);
  config.dynamicSmemBytes = kSharedBytes<Shape::Shared>;
  config.stream = call.stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  const CUtensorMap map_a = tensor_map(copied, call.m, call.k, Shape::kM);
  const CUtensorMap map_b = tensor_map(call.b, call.n, call.k, Shape::kN);
  check(cudaLaunchKernelEx(&config, gemm, map_a, map_b, call.c, call.m, call.n, call.k), "cudaLaunchKernelEx");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
