// Marker: an include of <cusparse.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<cusparse.h>)
#include_next <cusparse.h>
#endif
