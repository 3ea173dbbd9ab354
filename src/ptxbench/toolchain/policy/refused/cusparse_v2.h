// Marker: an include of <cusparse_v2.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<cusparse_v2.h>)
#include_next <cusparse_v2.h>
#endif
