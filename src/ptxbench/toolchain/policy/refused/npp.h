// Marker: an include of <npp.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<npp.h>)
#include_next <npp.h>
#endif
