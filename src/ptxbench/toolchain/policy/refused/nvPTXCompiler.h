// Marker: an include of <nvPTXCompiler.h> is seen by the policy (rule runtime_compilation) whether or not the library is installed.
#pragma once
#if __has_include_next(<nvPTXCompiler.h>)
#include_next <nvPTXCompiler.h>
#endif
