// Marker: an include of <cutlass/cutlass.h> is seen by the policy (rule cutlass) whether or not the library is installed.
#pragma once
#if __has_include_next(<cutlass/cutlass.h>)
#include_next <cutlass/cutlass.h>
#endif
