// The plain attention kernels' device code, for ctypes.
#include "backward.cuh"
#include "forward.cuh"

namespace plain {
alignas(16) float shared_floats[host_cuda::kFloats];
}

using Bf16 = __nv_bfloat16;

template <int D, bool kCausal>
int forward(int reversed, void* const* p, int blocks, int length) {
  return host_cuda::run_grid(blocks, 1, plain::shared_floats, plain::kForwardBytes<D>, reversed, [=] {
    plain::forward<D, kCausal>(static_cast<Bf16*>(p[0]), static_cast<Bf16*>(p[1]), static_cast<Bf16*>(p[2]),
                               static_cast<Bf16*>(p[3]), static_cast<float*>(p[4]), length);
  });
}

template <int D, bool kCausal>
int backward(int reversed, void* const* p, int blocks, int length) {
  const auto bf16 = [p](int i) { return static_cast<Bf16*>(p[i]); };
  const auto lse = static_cast<const float*>(p[5]);
  const plain::Backward all{bf16(0), bf16(1), bf16(2), bf16(3), bf16(4), lse, bf16(6), bf16(7), bf16(8), length};
  const int failed = host_cuda::run_grid(blocks, 1, plain::shared_floats, plain::kBackwardBytes<D>, reversed,
                                         [=] { plain::backward_queries<D, kCausal>(all); });
  return failed ? failed
                : host_cuda::run_grid(blocks, 1, plain::shared_floats, plain::kBackwardBytes<D>, reversed,
                                      [=] { plain::backward_keys<D, kCausal>(all); });
}

template <bool kCausal>
int dispatch(bool is_forward, int reversed, int features, void* const* p, int blocks, int length) {
  switch (features) {
    case 64:
      return is_forward ? forward<64, kCausal>(reversed, p, blocks, length) : backward<64, kCausal>(reversed, p, blocks, length);
    case 96:
      return is_forward ? forward<96, kCausal>(reversed, p, blocks, length) : backward<96, kCausal>(reversed, p, blocks, length);
    case 128:
      return is_forward ? forward<128, kCausal>(reversed, p, blocks, length) : backward<128, kCausal>(reversed, p, blocks, length);
    case 256:
      return is_forward ? forward<256, kCausal>(reversed, p, blocks, length) : -1;
    default:
      return -1;
  }
}

// `p`: the task's inputs and outputs in order.
extern "C" int run_attention(int is_forward, int causal, int reversed, int features, void* const* p, int heads, int length) {
  const int blocks = heads * ((length + plain::kTile - 1) / plain::kTile);
  return causal ? dispatch<true>(is_forward, reversed, features, p, blocks, length)
                : dispatch<false>(is_forward, reversed, features, p, blocks, length);
}
