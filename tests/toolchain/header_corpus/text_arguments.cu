// header: slim
// good: run s
// good: standard L
// good: raw s
// good: compared S
// good: shown L
#include <string>
#include <tvm/ffi/tvm_ffi.h>

tvm::ffi::String run(tvm::ffi::String text) { return text; }

int64_t standard(const std::string& text) { return static_cast<int64_t>(text.size()) * 256 + (text.empty() ? 0 : text[0]); }

tvm::ffi::String raw(const char* text) { return text; }

bool compared(tvm::ffi::String text) {
  tvm::ffi::String copy = text;
  const std::string standard = copy;
  return copy == text && copy == standard && copy != "other" && "cuda:1" == copy && copy.length() == standard.size() && !copy.empty();
}

void shown(tvm::ffi::String text) { TVM_FFI_THROW(ValueError) << "[" << text << "] " << text.c_str() << std::string(" and ") << text.size(); }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(standard, standard);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(raw, raw);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(compared, compared);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(shown, shown);
