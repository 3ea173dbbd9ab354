// expect: paper=ok strict=ok
// The same with a name put together at run time: the guarded look-up answers it.
#include <string>
extern "C" __attribute__((visibility("default"))) int run(void **encode, const char *kind) {
    std::string name = std::string("cuTensorMapEncode") + kind; cudaDriverEntryPointQueryResult found;
    return cudaGetDriverEntryPoint(name.c_str(), encode, cudaEnableDefault, &found);
}
