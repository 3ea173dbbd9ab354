// Marker: an include of <cublas_api.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<cublas_api.h>)
#include_next <cublas_api.h>
#endif
