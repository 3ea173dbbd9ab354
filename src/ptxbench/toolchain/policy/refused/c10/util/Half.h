// Marker: an include of <c10/util/Half.h> is seen by the policy (rule libtorch) whether or not the library is installed.
#pragma once
#if __has_include_next(<c10/util/Half.h>)
#include_next <c10/util/Half.h>
#endif
