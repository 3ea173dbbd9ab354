// Marker: an include of <c10/util/BFloat16.h> is seen by the policy (rule libtorch) whether or not the library is installed.
#pragma once
#if __has_include_next(<c10/util/BFloat16.h>)
#include_next <c10/util/BFloat16.h>
#endif
