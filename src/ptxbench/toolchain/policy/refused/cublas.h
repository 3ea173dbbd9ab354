// Marker: an include of <cublas.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<cublas.h>)
#include_next <cublas.h>
#endif
