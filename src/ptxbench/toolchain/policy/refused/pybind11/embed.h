// Marker: an include of <pybind11/embed.h> is seen by the policy (rule python_embedding) whether or not the library is installed.
#pragma once
#if __has_include_next(<pybind11/embed.h>)
#include_next <pybind11/embed.h>
#endif
