// Marker: an include of <cusolverMg.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<cusolverMg.h>)
#include_next <cusolverMg.h>
#endif
