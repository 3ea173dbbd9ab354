// Marker: an include of <ATen/ATen.h> is seen by the policy (rule libtorch) whether or not the library is installed.
#pragma once
#if __has_include_next(<ATen/ATen.h>)
#include_next <ATen/ATen.h>
#endif
