// Marker: an include of <cusolverDn.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<cusolverDn.h>)
#include_next <cusolverDn.h>
#endif
