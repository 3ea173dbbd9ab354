// Marker: an include of <nanobind/nanobind.h> is seen by the policy (rule python_embedding) whether or not the library is installed.
#pragma once
#if __has_include_next(<nanobind/nanobind.h>)
#include_next <nanobind/nanobind.h>
#endif
