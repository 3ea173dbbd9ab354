// expect: paper=ok strict=violation rule=include_path line=4
// A header of Thrust includes what the macro names.
#include <thrust/detail/config.h>
#define __THRUST_DEVICE_SYSTEM_ROOT /etc/hostname>
#include <thrust/gather.h>
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
