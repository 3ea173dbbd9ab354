// Marker: an include of <cute/tensor.hpp> is seen by the policy (rule cutlass) whether or not the library is installed.
#pragma once
#if __has_include_next(<cute/tensor.hpp>)
#include_next <cute/tensor.hpp>
#endif
