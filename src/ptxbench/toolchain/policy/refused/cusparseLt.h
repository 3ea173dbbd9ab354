// Marker: an include of <cusparseLt.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<cusparseLt.h>)
#include_next <cusparseLt.h>
#endif
