// Marker: an include of <Python.h> is seen by the policy (rule python_embedding) whether or not the library is installed.
#pragma once
#if __has_include_next(<Python.h>)
#include_next <Python.h>
#endif
