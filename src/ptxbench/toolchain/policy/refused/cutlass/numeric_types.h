// Marker: an include of <cutlass/numeric_types.h> is seen by the policy (rule cutlass) whether or not the library is installed.
#pragma once
#if __has_include_next(<cutlass/numeric_types.h>)
#include_next <cutlass/numeric_types.h>
#endif
