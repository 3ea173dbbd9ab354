// Marker: an include of <jitify.hpp> is seen by the policy (rule runtime_compilation) whether or not the library is installed.
#pragma once
#if __has_include_next(<jitify.hpp>)
#include_next <jitify.hpp>
#endif
