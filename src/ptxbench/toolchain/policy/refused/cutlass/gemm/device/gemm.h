// Marker: an include of <cutlass/gemm/device/gemm.h> is seen by the policy (rule cutlass) whether or not the library is installed.
#pragma once
#if __has_include_next(<cutlass/gemm/device/gemm.h>)
#include_next <cutlass/gemm/device/gemm.h>
#endif
