// Marker: an include of <nppi.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<nppi.h>)
#include_next <nppi.h>
#endif
