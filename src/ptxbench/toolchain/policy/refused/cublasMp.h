// Marker: an include of <cublasMp.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<cublasMp.h>)
#include_next <cublasMp.h>
#endif
