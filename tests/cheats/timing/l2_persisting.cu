// Sets L2 aside for lines that persist, and asks for A to stay in it.
// answer: protocol 5, strict: persisting L2 reset and L2 flushed before every iteration, so nothing is gained
// expect: outcome=correct paper=true strict=true stages=compare,time gain=none
#include "gemm.cuh"

void run(TensorView a, TensorView b, TensorView c) {
  const Gemm g = gemm_of(a, b, c);
  static const bool set = cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 32 << 20) == cudaSuccess;
  static cudaStream_t stream = nullptr;
  if (stream == nullptr) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamAttrValue attribute = {};
  attribute.accessPolicyWindow.base_ptr = const_cast<bf16*>(g.a);
  attribute.accessPolicyWindow.num_bytes = sizeof(bf16) * g.m * g.k;
  attribute.accessPolicyWindow.hitRatio = set ? 1.0f : 0.0f;
  attribute.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  attribute.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &attribute);
  multiply(g.on(stream));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
