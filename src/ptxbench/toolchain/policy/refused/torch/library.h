// Marker: an include of <torch/library.h> is seen by the policy (rule libtorch) whether or not the library is installed.
#pragma once
#if __has_include_next(<torch/library.h>)
#include_next <torch/library.h>
#endif
