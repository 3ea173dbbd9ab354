// header: full
// good: run i
// With a stream of our own, the conversion to int would be written instead.
#include <ostream>
#include <tvm/ffi/tvm_ffi.h>

struct Rows {
  int count;
  operator int() const { return count; }
};
std::ostream& operator<<(std::ostream& stream, const Rows& rows) { return stream << rows.count << " rows"; }

void run(int x) { TVM_FFI_THROW(ValueError) << Rows{x}; }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
