// header: slim
// good: run i
#include <new>
#include <stdexcept>
#include <tvm/ffi/tvm_ffi.h>
#include <vector>

struct Mine : std::exception {
  const char* what() const noexcept override { return "of my own"; }
};

int run(int which) {
  switch (which) {
    case 5: throw std::runtime_error("at run time");
    case -1: throw std::invalid_argument("argument");
    case 1: throw std::bad_alloc();
    case 0: throw Mine();
    default: return std::vector<int>{1, 2, 3}.at(static_cast<size_t>(which));
  }
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
