// header: slim
// good: run t i
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <tvm/ffi/tvm_ffi.h>

static std::mutex guard;

double run(tvm::ffi::TensorView x, int64_t bound) {
  std::lock_guard<std::mutex> lock(guard);
  std::vector<int64_t> shape(x.shape().begin(), x.shape().end());
  std::sort(shape.begin(), shape.end(), std::greater<>());
  std::map<int64_t, std::string> names;
  for (int64_t extent : shape) names[extent] = std::to_string(extent);
  auto owned = std::make_unique<std::array<double, 2>>(std::array<double, 2>{1.5, 2.5});
  std::function<double(double)> bend = [&](double v) { return std::fmin(v, static_cast<double>(bound)); };
  return bend(std::accumulate(shape.begin(), shape.end(), 0.0)) + (*owned)[1] + static_cast<double>(names.size());
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
