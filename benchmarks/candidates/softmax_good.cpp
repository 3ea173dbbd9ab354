#include <cmath>
#include <tvm/ffi/tvm_ffi.h>

void run(tvm::ffi::TensorView x, tvm::ffi::TensorView y) {
  const int64_t rows = x.size(0), columns = x.size(1);
  const float* in = static_cast<const float*>(x.data_ptr());
  float* out = static_cast<float*>(y.data_ptr());
  for (int64_t i = 0; i < rows; ++i, in += columns, out += columns) {
    float top = in[0], sum = 0;
    for (int64_t j = 1; j < columns; ++j) top = std::fmax(top, in[j]);
    for (int64_t j = 0; j < columns; ++j) sum += out[j] = std::exp(in[j] - top);
    for (int64_t j = 0; j < columns; ++j) out[j] /= sum;
  }
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
