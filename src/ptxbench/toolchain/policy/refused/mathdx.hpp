// Marker: an include of <mathdx.hpp> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<mathdx.hpp>)
#include_next <mathdx.hpp>
#endif
