// Slim stand-in: how exceptions cross the C interface, in both directions.
#ifndef PTXBENCH_SLIM_SAFE_CALL_H_
#define PTXBENCH_SLIM_SAFE_CALL_H_

#include <tvm/ffi/error.h>

#define TVM_FFI_SAFE_CALL_BEGIN() \
  try {                           \
  (void)0

#define TVM_FFI_SAFE_CALL_END()                                                                 \
  return 0;                                                                                     \
  }                                                                                             \
  catch (const ::tvm::ffi::Error& err) {                                                        \
    ::tvm::ffi::detail::SetSafeCallRaised(err);                                                 \
    return -1;                                                                                  \
  }                                                                                             \
  catch (const std::exception& ex) {                                                            \
    ::tvm::ffi::detail::SetSafeCallRaised(::tvm::ffi::Error("InternalError", ex.what(), ""));    \
    return -1;                                                                                  \
  }                                                                                             \
  TVM_FFI_UNREACHABLE()

#define TVM_FFI_CHECK_SAFE_CALL(func)                     \
  {                                                       \
    const int ret_code = (func);                          \
    if (TVM_FFI_PREDICT_FALSE(ret_code != 0)) {           \
      throw ::tvm::ffi::detail::MoveFromSafeCallRaised(); \
    }                                                     \
  }

#endif  // PTXBENCH_SLIM_SAFE_CALL_H_
