// Marker: an include of <cute/arch/copy_sm90_tma.hpp> is seen by the policy (rule cutlass) whether or not the library is installed.
#pragma once
#if __has_include_next(<cute/arch/copy_sm90_tma.hpp>)
#include_next <cute/arch/copy_sm90_tma.hpp>
#endif
