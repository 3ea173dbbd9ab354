// Marker: an include of <ATen/cuda/CUDAContext.h> is seen by the policy (rule libtorch) whether or not the library is installed.
#pragma once
#if __has_include_next(<ATen/cuda/CUDAContext.h>)
#include_next <ATen/cuda/CUDAContext.h>
#endif
