// header: slim
// good: run i
// good: numbers f
// good: shapes t
// good: late i
#include <cuda_runtime.h>
#include <limits>
#include <tvm/ffi/tvm_ffi.h>

enum Plain { kNone, kSome = 3 };

void run(int64_t which) {
  const char* null = nullptr;
  char buffer[8] = "array";
  switch (which) {
    case 5: TVM_FFI_THROW(ValueError) << "five " << 5 << ' ' << 5u << " " << 5l << " " << 5ull << " " << short(-5) << '\n';
    case -1: TVM_FFI_THROW(TypeError) << true << false << buffer << static_cast<signed char>('c') << static_cast<unsigned char>('u');
    case 1: TVM_FFI_THROW(IndexError) << "cut " << null << " here" << 1;
    case 0: TVM_FFI_THROW(Custom_Kind) << kSome << " " << cudaErrorInvalidValue << " " << static_cast<const void*>(nullptr);
    default: TVM_FFI_THROW(RuntimeError);
  }
}

void numbers(double x) {
  TVM_FFI_THROW(ValueError) << x << " " << static_cast<float>(x) << " " << x * 1e-7 << " " << x * 1234567.0 << " " << x / 0.0 << " " << 0.1 << " "
                            << 100.0 << " " << 1e100 << " " << std::numeric_limits<float>::infinity() << " " << -0.0;
}

void shapes(tvm::ffi::TensorView x) {
  if (x.ndim() > 0) TVM_FFI_THROW(ValueError) << "x is " << x.shape() << " of " << x.dtype() << " on " << x.device().device_type << ":" << x.device().device_id;
}

struct Releases {
  int& count;
  ~Releases() { ++count; }
};

// What an operand does happens before the error is thrown, and locals are destroyed on the way out.
void late(int64_t depth) {
  static int released = 0;
  Releases guard{released};
  if (depth > 0) {
    try {
      late(depth - 1);
    } catch (const std::exception& error) {
      TVM_FFI_THROW(RuntimeError) << depth << "/" << released << ": " << error.what();
    }
  }
  TVM_FFI_THROW(ValueError) << "bottom " << ++released;
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(numbers, numbers);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(shapes, shapes);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(late, late);
