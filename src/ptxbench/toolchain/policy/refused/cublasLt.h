// Marker: an include of <cublasLt.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<cublasLt.h>)
#include_next <cublasLt.h>
#endif
