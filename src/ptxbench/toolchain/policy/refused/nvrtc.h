// Marker: an include of <nvrtc.h> is seen by the policy (rule runtime_compilation) whether or not the library is installed.
#pragma once
#if __has_include_next(<nvrtc.h>)
#include_next <nvrtc.h>
#endif
