// Marker: an include of <cublasXt.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<cublasXt.h>)
#include_next <cublasXt.h>
#endif
