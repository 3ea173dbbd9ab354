// Marker: an include of <cusolverSp.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<cusolverSp.h>)
#include_next <cusolverSp.h>
#endif
