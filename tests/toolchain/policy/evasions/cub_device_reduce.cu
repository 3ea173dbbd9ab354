// expect: paper=ok strict=violation rule=device_wide_library speed=slow
// A device-wide reduction, through a namespace alias.
#include <cub/device/device_reduce.cuh>
namespace quick = cub;
extern "C" __attribute__((visibility("default"))) int run(void *workspace, size_t bytes, float *x, float *y, int n) {
    return quick::DeviceReduce::Sum(workspace, bytes, x, y, n);
}
