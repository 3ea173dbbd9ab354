// Marker: an include of <nvshmem.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<nvshmem.h>)
#include_next <nvshmem.h>
#endif
