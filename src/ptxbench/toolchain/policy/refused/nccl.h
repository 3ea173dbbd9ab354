// Marker: an include of <nccl.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<nccl.h>)
#include_next <nccl.h>
#endif
