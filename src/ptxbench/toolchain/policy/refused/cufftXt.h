// Marker: an include of <cufftXt.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<cufftXt.h>)
#include_next <cufftXt.h>
#endif
