// Slim stand-in for <tvm/ffi/container/tensor.h>: tensors, owned (Tensor) and borrowed (TensorView).
#ifndef TVM_FFI_CONTAINER_TENSOR_H_
#define TVM_FFI_CONTAINER_TENSOR_H_

#include <tvm/ffi/container/shape.h>
#include <tvm/ffi/device.h>
#include <tvm/ffi/dtype.h>
#include <tvm/ffi/error.h>

#include <optional>

namespace tvm {
namespace ffi {

inline bool IsDirectAddressDevice(const DLDevice& device) {
  return device.device_type <= kDLCUDAHost || device.device_type == kDLCUDAManaged || device.device_type == kDLROCM ||
         device.device_type == kDLROCMHost;
}

// Whether elements follow each other in row-major order. Axes of extent 1 may have any stride; an empty tensor may have any.
inline bool IsContiguous(const DLTensor& arr) {
  if (arr.strides == nullptr) return true;
  for (int32_t i = 0; i < arr.ndim; ++i) {
    if (arr.shape[i] == 0) return true;
  }
  int64_t expected = 1;
  for (int32_t i = arr.ndim - 1; i >= 0; --i) {
    if (arr.shape[i] == 1) continue;
    if (arr.strides[i] != expected) return false;
    expected *= arr.shape[i];
  }
  return true;
}

inline bool IsAligned(const DLTensor& arr, size_t alignment) {
  const size_t base = IsDirectAddressDevice(arr.device) ? reinterpret_cast<size_t>(arr.data) : 0;
  return (base + arr.byte_offset) % alignment == 0;
}

// Types of less than a byte are packed.
inline size_t GetDataSize(size_t numel, DLDataType dtype) {
  return static_cast<size_t>((static_cast<uint64_t>(numel) * dtype.bits * dtype.lanes + 7) / 8);
}

inline size_t GetDataSize(const DLTensor& arr) {
  return GetDataSize(static_cast<size_t>(ShapeView(arr.shape, static_cast<size_t>(arr.ndim)).Product()), arr.dtype);
}

namespace detail {

// What Tensor and TensorView both say of a tensor; indices count from the end when they are negative.
inline int64_t At(const DLTensor& tensor, const int64_t* values, int64_t idx) {
  const int64_t adjusted = idx >= 0 ? idx : tensor.ndim + idx;
  if (TVM_FFI_PREDICT_FALSE(adjusted < 0 || adjusted >= tensor.ndim)) {
    TVM_FFI_THROW(IndexError) << "Index " << idx << " out of bounds for tensor with " << tensor.ndim << " dimensions";
  }
  return values[adjusted];
}

inline DLTensor Strided(const DLTensor& tensor, ShapeView shape, ShapeView strides, int64_t elem_offset_as_i64) {
  DLTensor prototype = tensor;
  prototype.shape = const_cast<int64_t*>(shape.data());
  prototype.ndim = static_cast<int>(shape.size());
  prototype.strides = const_cast<int64_t*>(strides.data());
  TVM_FFI_ICHECK_GE(elem_offset_as_i64, 0);
  prototype.byte_offset += GetDataSize(static_cast<size_t>(elem_offset_as_i64), prototype.dtype);
  if (prototype.byte_offset != 0 && IsDirectAddressDevice(prototype.device)) {
    prototype.data = static_cast<char*>(prototype.data) + prototype.byte_offset;
    prototype.byte_offset = 0;
  }
  return prototype;
}

}  // namespace detail

class Tensor {
 public:
  Tensor() = default;
  Tensor(const Tensor& other) : object_(other.object_) {
    if (object_ != nullptr) TVMFFIObjectIncRef(object_);
  }
  Tensor(Tensor&& other) noexcept : object_(other.object_) { other.object_ = nullptr; }
  Tensor& operator=(const Tensor& other) {
    Tensor copy(other);
    std::swap(object_, copy.object_);
    return *this;
  }
  Tensor& operator=(Tensor&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Tensor() {
    if (object_ != nullptr) TVMFFIObjectDecRef(object_);
  }

  bool defined() const { return object_ != nullptr; }
  bool same_as(const Tensor& other) const { return object_ == other.object_; }
  bool operator==(const Tensor& other) const { return same_as(other); }
  bool operator!=(const Tensor& other) const { return !same_as(other); }

  void* data_ptr() const { return get()->data; }
  DLDevice device() const { return get()->device; }
  int32_t ndim() const { return get()->ndim; }
  int32_t dim() { return ndim(); }
  DLDataType dtype() const { return get()->dtype; }
  ShapeView shape() const { return ShapeView(get()->shape, get()->ndim); }
  ShapeView sizes() const { return shape(); }
  ShapeView strides() const {
    const DLTensor* obj = get();
    TVM_FFI_ICHECK(obj->strides != nullptr || obj->ndim == 0);
    return ShapeView(obj->strides, obj->ndim);
  }
  int64_t size(int64_t idx) const { return detail::At(*get(), get()->shape, idx); }
  int64_t stride(int64_t idx) const { return detail::At(*get(), get()->strides, idx); }
  int64_t numel() const { return shape().Product(); }
  uint64_t byte_offset() const { return get()->byte_offset; }
  bool IsContiguous() const { return ffi::IsContiguous(*get()); }
  bool is_contiguous() const { return IsContiguous(); }
  bool IsAligned(size_t alignment) const { return ffi::IsAligned(*get(), alignment); }
  const DLTensor* GetDLTensorPtr() const { return get(); }

  Tensor as_strided(ShapeView shape, ShapeView strides, std::optional<int64_t> element_offset = std::nullopt) const {
    const DLTensor prototype = detail::Strided(*get(), shape, strides, element_offset.value_or(0));
    TVMFFIObjectHandle made;
    TVM_FFI_CHECK_SAFE_CALL(TVMFFITensorCreateUnsafeView(object_, &prototype, &made));
    return Tensor(Owned{made});
  }
  static Tensor FromEnvAlloc(int (*env_alloc)(DLTensor*, TVMFFIObjectHandle*), ShapeView shape, DLDataType dtype,
                             DLDevice device) {
    DLTensor prototype{};
    prototype.device = device;
    prototype.dtype = dtype;
    prototype.shape = const_cast<int64_t*>(shape.data());
    prototype.ndim = static_cast<int>(shape.size());
    TVMFFIObjectHandle made;
    TVM_FFI_CHECK_SAFE_CALL(env_alloc(&prototype, &made));
    return Tensor(Owned{made});
  }

 private:
  struct Owned {
    TVMFFIObjectHandle object;
  };
  explicit Tensor(Owned owned) : object_(owned.object) {}
  const DLTensor* get() const { return TVMFFITensorGetDLTensorPtr(object_); }

  TVMFFIObjectHandle object_ = nullptr;
  template <typename, typename>
  friend struct detail::Slot;
};

// A copy of the tensor's description; its data, shape and strides belong to somebody else.
class TensorView {
 public:
  TensorView(const Tensor& tensor) : tensor_() {  // NOLINT(google-explicit-constructor)
    TVM_FFI_ICHECK(tensor.defined());
    tensor_ = *tensor.GetDLTensorPtr();
  }
  TensorView(const DLTensor* tensor) : tensor_() {  // NOLINT(google-explicit-constructor)
    TVM_FFI_ICHECK(tensor != nullptr);
    tensor_ = *tensor;
  }
  TensorView(const TensorView& other) = default;
  TensorView& operator=(const TensorView& other) = default;
  TensorView& operator=(const Tensor& tensor) { return *this = TensorView(tensor); }
  TensorView(Tensor&& tensor) = delete;  // NOLINT(google-explicit-constructor)
  TensorView& operator=(Tensor&& tensor) = delete;

  void* data_ptr() const { return tensor_.data; }
  DLDevice device() const { return tensor_.device; }
  int32_t ndim() const { return tensor_.ndim; }
  int32_t dim() const { return ndim(); }
  DLDataType dtype() const { return tensor_.dtype; }
  ShapeView shape() const { return ShapeView(tensor_.shape, tensor_.ndim); }
  ShapeView sizes() const { return shape(); }
  ShapeView strides() const {
    TVM_FFI_ICHECK(tensor_.strides != nullptr || tensor_.ndim == 0);
    return ShapeView(tensor_.strides, tensor_.ndim);
  }
  int64_t size(int64_t idx) const { return detail::At(tensor_, tensor_.shape, idx); }
  int64_t stride(int64_t idx) const { return detail::At(tensor_, tensor_.strides, idx); }
  int64_t numel() const { return shape().Product(); }
  uint64_t byte_offset() const { return tensor_.byte_offset; }
  bool IsContiguous() const { return ffi::IsContiguous(tensor_); }
  bool is_contiguous() const { return IsContiguous(); }

  TensorView as_strided(ShapeView shape, ShapeView strides, std::optional<int64_t> element_offset = std::nullopt) const {
    TVM_FFI_ICHECK_EQ(shape.size(), strides.size());
    const DLTensor prototype = detail::Strided(tensor_, shape, strides, element_offset.value_or(0));
    return TensorView(&prototype);
  }

 private:
  DLTensor tensor_;
};

inline size_t GetDataSize(const Tensor& tensor) { return GetDataSize(tensor.numel(), tensor.dtype()); }
inline size_t GetDataSize(const TensorView& tensor) { return GetDataSize(tensor.numel(), tensor.dtype()); }

namespace detail {

inline DLTensor* BorrowTensor(const TVMFFIAny* source) {
  return source->type_index == kTVMFFITensor ? TVMFFITensorGetDLTensorPtr(source->v_obj) : static_cast<DLTensor*>(source->v_ptr);
}

inline bool HoldsTensor(const TVMFFIAny* source) {
  return source->type_index == kTVMFFIDLTensorPtr || source->type_index == kTVMFFITensor;
}

template <>
struct Slot<TensorView> : KnownSlot<false> {
  static bool Fits(const TVMFFIAny* source) { return HoldsTensor(source); }
  static TensorView Take(const TVMFFIAny* source) { return TensorView(BorrowTensor(source)); }
  static void Name(MessageStream& stream) { stream << "DLTensor*"; }
};

template <>
struct Slot<DLTensor*> : KnownSlot<false> {
  static bool Fits(const TVMFFIAny* source) { return HoldsTensor(source); }
  static DLTensor* Take(const TVMFFIAny* source) { return BorrowTensor(source); }
  static void Name(MessageStream& stream) { stream << "DLTensor*"; }
};

// None is the tensor that is not defined.
template <>
struct Slot<Tensor> : KnownSlot<true> {
  static bool Fits(const TVMFFIAny* source) { return source->type_index == kTVMFFITensor || source->type_index == kTVMFFINone; }
  static Tensor Take(const TVMFFIAny* source) {
    if (source->type_index == kTVMFFINone) return Tensor();
    TVMFFIObjectIncRef(source->v_obj);
    return Tensor(Tensor::Owned{source->v_obj});
  }
  static void Name(MessageStream& stream) { stream << "ffi.Tensor"; }
  static void Store(Tensor value, TVMFFIAny* result) {
    StorePlain(result, value.defined() ? kTVMFFITensor : kTVMFFINone);
    result->v_ptr = value.object_;
    value.object_ = nullptr;
  }
};

}  // namespace detail
}  // namespace ffi
}  // namespace tvm
#endif  // TVM_FFI_CONTAINER_TENSOR_H_
