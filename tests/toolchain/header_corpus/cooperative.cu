// header: slim
// good: run t
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <tvm/ffi/tvm_ffi.h>

namespace cg = cooperative_groups;
using namespace cooperative_groups;

__global__ void sum(const float* x, float* y) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const float total = cg::reduce(warp, x[threadIdx.x], cg::plus<float>());
  if (warp.thread_rank() == 0) y[warp.meta_group_rank()] = total;
  this_thread_block().sync();
}

void run(tvm::ffi::TensorView x) {
  auto* p = static_cast<float*>(x.data_ptr());
  sum<<<1, 128>>>(p, p);
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
