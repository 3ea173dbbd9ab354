// Marker: an include of <cufftdx.hpp> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<cufftdx.hpp>)
#include_next <cufftdx.hpp>
#endif
