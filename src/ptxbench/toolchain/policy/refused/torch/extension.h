// Marker: an include of <torch/extension.h> is seen by the policy (rule libtorch) whether or not the library is installed.
#pragma once
#if __has_include_next(<torch/extension.h>)
#include_next <torch/extension.h>
#endif
