// Marker: an include of <cute/arch/mma_sm90_gmma.hpp> is seen by the policy (rule cutlass) whether or not the library is installed.
#pragma once
#if __has_include_next(<cute/arch/mma_sm90_gmma.hpp>)
#include_next <cute/arch/mma_sm90_gmma.hpp>
#endif
