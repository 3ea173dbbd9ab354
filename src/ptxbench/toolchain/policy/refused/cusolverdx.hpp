// Marker: an include of <cusolverdx.hpp> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<cusolverdx.hpp>)
#include_next <cusolverdx.hpp>
#endif
