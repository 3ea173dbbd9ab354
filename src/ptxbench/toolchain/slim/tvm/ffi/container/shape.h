// Slim stand-in for <tvm/ffi/container/shape.h>: views of shapes and strides.
#ifndef TVM_FFI_CONTAINER_SHAPE_H_
#define TVM_FFI_CONTAINER_SHAPE_H_

#include <tvm/ffi/error.h>
#include <tvm/ffi/optional.h>

#include <initializer_list>

// What the full header includes here, where the candidate names something of it (see standard.txt).
#ifdef PTXBENCH_STD_ALGORITHM
#include <algorithm>
#endif
#ifdef PTXBENCH_STD_ITERATOR
#include <iterator>
#endif

namespace tvm {
namespace ffi {

class ShapeView {
 public:
  ShapeView() : cell_{nullptr, 0} {}
  ShapeView(const int64_t* data, size_t size) : cell_{data, size} {}
  ShapeView(const std::initializer_list<int64_t>& list) : cell_{list.begin(), list.size()} {}  // NOLINT

  const int64_t* data() const { return cell_.data; }
  size_t size() const { return cell_.size; }
  bool empty() const { return size() == 0; }
  const int64_t* begin() const { return cell_.data; }
  const int64_t* end() const { return cell_.data + cell_.size; }
  int64_t operator[](size_t idx) const { return cell_.data[idx]; }
  int64_t at(size_t idx) const {
    if (idx >= size()) TVM_FFI_THROW(IndexError) << "indexing " << idx << " on a Shape of size " << size();
    return cell_.data[idx];
  }
  int64_t front() const { return at(0); }
  int64_t back() const { return at(size() - 1); }
  int64_t Product() const {
    int64_t product = 1;
    for (const int64_t extent : *this) product *= extent;
    return product;
  }

 private:
  TVMFFIShapeCell cell_;
};

namespace detail {

template <>
struct Written<ShapeView> {
  static void Write(MessageStream& stream, const ShapeView& value) {
    stream << "[";
    for (size_t i = 0; i < value.size(); ++i) stream << (i == 0 ? "" : ", ") << value[i];
    stream << "]";
  }
};

}  // namespace detail
}  // namespace ffi
}  // namespace tvm
#endif  // TVM_FFI_CONTAINER_SHAPE_H_
