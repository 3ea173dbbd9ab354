// The attention forward tasks with the causal mask by plain CUDA: what a compiler makes of them without target instructions.

#include "forward.cuh"
#include "launch.cuh"

template <int D>
void run_heads(const tvm::ffi::TensorView& q, const tvm::ffi::TensorView& k, const tvm::ffi::TensorView& v,
               const tvm::ffi::TensorView& o, const tvm::ffi::TensorView& lse) {
  plain::launch(plain::forward<D, true>, plain::kForwardBytes<D>, plain::blocks_of(q), plain::stream_of(q), plain::input(q),
                plain::input(k), plain::input(v), plain::output(o), static_cast<float*>(lse.data_ptr()),
                static_cast<int>(q.size(2)));
}

void run(tvm::ffi::TensorView q, tvm::ffi::TensorView k, tvm::ffi::TensorView v, tvm::ffi::TensorView o, tvm::ffi::TensorView lse) {
  switch (q.size(3)) {
    case 64:
      return run_heads<64>(q, k, v, o, lse);
    case 96:
      return run_heads<96>(q, k, v, o, lse);
    case 128:
      return run_heads<128>(q, k, v, o, lse);
    case 256:
      return run_heads<256>(q, k, v, o, lse);
    default:
      TVM_FFI_THROW(ValueError) << "heads have 64, 96, 128 or 256 elements, not " << q.size(3);
  }
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
