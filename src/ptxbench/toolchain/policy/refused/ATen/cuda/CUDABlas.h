// Marker: an include of <ATen/cuda/CUDABlas.h> is seen by the policy (rule libtorch) whether or not the library is installed.
#pragma once
#if __has_include_next(<ATen/cuda/CUDABlas.h>)
#include_next <ATen/cuda/CUDABlas.h>
#endif
