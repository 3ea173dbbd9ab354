// Marker: an include of <cutensor.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<cutensor.h>)
#include_next <cutensor.h>
#endif
