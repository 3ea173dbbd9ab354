// Marker: an include of <NvInfer.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<NvInfer.h>)
#include_next <NvInfer.h>
#endif
