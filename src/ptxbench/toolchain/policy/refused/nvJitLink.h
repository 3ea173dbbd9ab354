// Marker: an include of <nvJitLink.h> is seen by the policy (rule runtime_compilation) whether or not the library is installed.
#pragma once
#if __has_include_next(<nvJitLink.h>)
#include_next <nvJitLink.h>
#endif
