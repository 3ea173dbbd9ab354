// header: slim
// good: run i i
// good: mixed i f
// good: kinds i
// good: pointer p
// good: debug j
// good: nested i
#include <cuda_runtime.h>
#include <tvm/ffi/tvm_ffi.h>

#define LARGEST 4
#define ROW_COUNT (LARGEST * 2)

struct Packed {
  int low : 4;
  unsigned high : 28;
};

void run(int64_t a, int64_t b) {
  TVM_FFI_ICHECK(a != 1) << "a is " << a;
  TVM_FFI_ICHECK_EQ(a, b) << "first";
  TVM_FFI_ICHECK_NE(a, LARGEST);
  TVM_FFI_ICHECK_LT(a, ROW_COUNT) << " rows";
  TVM_FFI_ICHECK_GT(b, 0);
  TVM_FFI_ICHECK_LE(a, 4) << 'x';
  TVM_FFI_ICHECK_GE(a, b + 1);
}

void mixed(int a, float b) {
  const unsigned long size = 5;
  TVM_FFI_CHECK_EQ(static_cast<size_t>(a), size, ValueError) << "sizes";
  TVM_FFI_CHECK_GE(b, a, ValueError) << "float against int";
  TVM_FFI_CHECK_LT(b, 1e3, TypeError);
  TVM_FFI_CHECK_NE(cudaSuccess, static_cast<cudaError_t>(a), RuntimeError) << cudaGetErrorName(static_cast<cudaError_t>(a));
}

void kinds(int x) {
  Packed packed{x & 7, 3u};
  TVM_FFI_CHECK(x > ROW_COUNT - 8, KeyError) << "needs more than " << ROW_COUNT - 8;
  TVM_FFI_ICHECK_EQ(packed.low, packed.high);
  if (x == 3)
    TVM_FFI_ICHECK(false);
  else
    TVM_FFI_ICHECK_LE(x, 2);
}

void* pointer(void* x) { return TVM_FFI_ICHECK_NOTNULL(x); }

void debug(int x) {
  TVM_FFI_DCHECK(x >= 0) << "debug";
  TVM_FFI_DCHECK_EQ(x, 5);
}

int nested(int x) {
  int seen = 0;
  for (int i = 0; i < x; ++i) TVM_FFI_ICHECK_LT(i, 100) << ++seen;
  return seen;
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(mixed, mixed);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(kinds, kinds);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(pointer, pointer);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(debug, debug);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(nested, nested);
