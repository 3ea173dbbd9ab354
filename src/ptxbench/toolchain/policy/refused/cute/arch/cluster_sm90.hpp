// Marker: an include of <cute/arch/cluster_sm90.hpp> is seen by the policy (rule cutlass) whether or not the library is installed.
#pragma once
#if __has_include_next(<cute/arch/cluster_sm90.hpp>)
#include_next <cute/arch/cluster_sm90.hpp>
#endif
