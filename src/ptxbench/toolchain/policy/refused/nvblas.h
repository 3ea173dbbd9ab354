// Marker: an include of <nvblas.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<nvblas.h>)
#include_next <nvblas.h>
#endif
