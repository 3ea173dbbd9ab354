// The attention backward tasks without a mask by plain CUDA: what a compiler makes of them without target instructions.

#include "backward.cuh"
#include "launch.cuh"

template <int D>
void run_heads(const plain::Backward& all, unsigned blocks, cudaStream_t stream) {
  plain::launch(plain::backward_queries<D, false>, plain::kBackwardBytes<D>, blocks, stream, all);
  plain::launch(plain::backward_keys<D, false>, plain::kBackwardBytes<D>, blocks, stream, all);
}

void run(tvm::ffi::TensorView q, tvm::ffi::TensorView k, tvm::ffi::TensorView v, tvm::ffi::TensorView o, tvm::ffi::TensorView d_o,
         tvm::ffi::TensorView lse, tvm::ffi::TensorView d_q, tvm::ffi::TensorView d_k, tvm::ffi::TensorView d_v) {
  const plain::Backward all{plain::input(q),
                            plain::input(k),
                            plain::input(v),
                            plain::input(o),
                            plain::input(d_o),
                            static_cast<const float*>(lse.data_ptr()),
                            plain::output(d_q),
                            plain::output(d_k),
                            plain::output(d_v),
                            static_cast<int>(q.size(2))};
  const unsigned blocks = plain::blocks_of(q);
  const cudaStream_t stream = plain::stream_of(q);
  switch (q.size(3)) {
    case 64:
      return run_heads<64>(all, blocks, stream);
    case 96:
      return run_heads<96>(all, blocks, stream);
    case 128:
      return run_heads<128>(all, blocks, stream);
    default:
      TVM_FFI_THROW(ValueError) << "heads have 64, 96 or 128 elements, not " << q.size(3);
  }
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
