// Marker: an include of <cublasdx.hpp> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<cublasdx.hpp>)
#include_next <cublasdx.hpp>
#endif
