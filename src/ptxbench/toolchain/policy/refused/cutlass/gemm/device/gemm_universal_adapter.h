// Marker: an include of <cutlass/gemm/device/gemm_universal_adapter.h> is seen by the policy (rule cutlass) whether or not the library is installed.
#pragma once
#if __has_include_next(<cutlass/gemm/device/gemm_universal_adapter.h>)
#include_next <cutlass/gemm/device/gemm_universal_adapter.h>
#endif
