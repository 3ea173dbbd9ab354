// Slim stand-in for <tvm/ffi/device.h>: devices, also by name ("cuda", "cuda:1").
#ifndef TVM_FFI_DEVICE_H_
#define TVM_FFI_DEVICE_H_

#include <dlpack/dlpack.h>
#include <tvm/ffi/string.h>

namespace tvm {
namespace ffi {
namespace detail {

struct DeviceName {
  std::string_view name;
  DLDeviceType type;
};

inline constexpr DeviceName kDeviceNames[] = {
    {"cpu", kDLCPU},     {"cuda", kDLCUDA},       {"opencl", kDLOpenCL},   {"vulkan", kDLVulkan}, {"metal", kDLMetal},
    {"mps", kDLMetal},   {"vpi", kDLVPI},         {"rocm", kDLROCM},       {"ext_dev", kDLExtDev}, {"hexagon", kDLHexagon},
    {"wgpu", kDLWebGPU}, {"webgpu", kDLWebGPU},   {"maia", kDLMAIA},       {"trn", kDLTrn},
};

// "name" or "name:index", up to the first space.
[[gnu::noinline]] inline bool ParseDevice(std::string_view text, DLDevice* device) {
  text = text.substr(0, text.find(' '));
  const size_t colon = text.find(':');
  int64_t index = 0;
  if (colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    if (digits.empty()) return false;
    for (const char digit : digits) {
      if (digit < '0' || digit > '9') return false;
      index = index * 10 + (digit - '0');
      if (index > INT32_MAX) return false;
    }
  }
  for (const DeviceName& known : kDeviceNames) {
    if (known.name == text.substr(0, colon)) {
      *device = DLDevice{known.type, static_cast<int32_t>(index)};
      return true;
    }
  }
  return false;
}

template <>
struct Slot<DLDevice> : KnownSlot<true> {
  static bool Fits(const TVMFFIAny* source) {
    DLDevice device;
    return Read(source, &device);
  }
  static DLDevice Take(const TVMFFIAny* source) {
    DLDevice device{};
    Read(source, &device);
    return device;
  }
  static void Name(MessageStream& stream) { stream << "Device"; }
  static void Store(DLDevice value, TVMFFIAny* result) {
    StorePlain(result, kTVMFFIDevice);
    result->v_device = value;
  }

 private:
  static bool Read(const TVMFFIAny* source, DLDevice* device) {
    TVMFFIByteArray text;
    if (source->type_index == kTVMFFIDevice) *device = source->v_device;
    return source->type_index == kTVMFFIDevice ||
           (ReadText(source, false, &text) && ParseDevice(std::string_view(text.data, text.size), device));
  }
};

}  // namespace detail
}  // namespace ffi
}  // namespace tvm
#endif  // TVM_FFI_DEVICE_H_
