// Marker: an include of <cudnn_adv_infer.h> is seen by the policy (rule vendor_library) whether or not the library is installed.
#pragma once
#if __has_include_next(<cudnn_adv_infer.h>)
#include_next <cudnn_adv_infer.h>
#endif
