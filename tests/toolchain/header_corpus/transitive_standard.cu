// header: slim
// good: run t i
// Standard names that only TVM-FFI's headers brought in.
#include <tvm/ffi/tvm_ffi.h>

std::vector<int64_t> sorted(tvm::ffi::ShapeView shape) {
  std::vector<int64_t> extents(shape.begin(), shape.end());
  std::sort(extents.begin(), extents.end());
  return extents;
}

tvm::ffi::String run(tvm::ffi::TensorView x, int bound) {
  std::string text = "extents";
  for (int64_t extent : sorted(x.shape())) text += " " + std::to_string(std::min<int64_t>(extent, bound));
  std::unordered_map<std::string, int> seen{{text, 1}};
  std::unique_ptr<std::string> owned = std::make_unique<std::string>(text);
  if (static_cast<size_t>(seen[*owned]) > std::numeric_limits<uint32_t>::max()) throw std::runtime_error("never");
  return owned->c_str();
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
