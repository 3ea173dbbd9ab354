// Marker: an include of <cufft.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<cufft.h>)
#include_next <cufft.h>
#endif
