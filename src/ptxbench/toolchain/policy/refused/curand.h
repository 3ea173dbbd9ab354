// Marker: an include of <curand.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<curand.h>)
#include_next <curand.h>
#endif
