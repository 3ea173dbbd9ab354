// Marker: an include of <jitify2.hpp> is seen by the policy (rule runtime_compilation) whether or not the library is installed.
#pragma once
#if __has_include_next(<jitify2.hpp>)
#include_next <jitify2.hpp>
#endif
