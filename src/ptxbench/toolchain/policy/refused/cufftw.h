// Marker: an include of <cufftw.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<cufftw.h>)
#include_next <cufftw.h>
#endif
