// Marker: an include of <nvFatbin.h> is seen by the policy (rule runtime_compilation) whether or not the library is installed.
#pragma once
#if __has_include_next(<nvFatbin.h>)
#include_next <nvFatbin.h>
#endif
