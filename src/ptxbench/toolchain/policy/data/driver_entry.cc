// The driver look-up of a candidate. The linker sends its calls of cudaGetDriverEntryPoint* here (--wrap); a name outside the
// allow-list is answered without asking the driver, so that a name which is only decoded at run time gets nothing either.

#include <cuda_runtime_api.h>

#include <cstring>

#ifndef CUDART_VERSION
#error "the CUDA runtime's headers are needed"
#endif

namespace {

constexpr const char *kAllowed[] = {
#include "driver_entries.inc"
};

constexpr size_t kLongestName = 64;

// Copies the name before judging it: another thread may change the caller's buffer between our look and the driver's.
bool allowed(const char *symbol, char (&name)[kLongestName]) {
    if (symbol == nullptr) {
        return false;
    }
    std::strncpy(name, symbol, kLongestName);
    if (name[kLongestName - 1] != '\0') {
        return false;
    }
    for (const char *known : kAllowed) {
        if (std::strcmp(name, known) == 0) {
            return true;
        }
    }
    return false;
}

cudaError_t refuse(void **function, cudaDriverEntryPointQueryResult *status) {
    if (function != nullptr) {
        *function = nullptr;
    }
    if (status != nullptr) {
        *status = cudaDriverEntryPointSymbolNotFound;
    }
    return cudaErrorSymbolNotFound;
}

}  // namespace

#define GUARDED(suffix)                                                                                                            \
    extern "C" cudaError_t __real_cudaGetDriverEntryPoint##suffix(const char *, void **, unsigned long long,                       \
                                                                  cudaDriverEntryPointQueryResult *);                              \
    extern "C" __attribute__((visibility("hidden"))) cudaError_t __wrap_cudaGetDriverEntryPoint##suffix(                           \
        const char *symbol, void **function, unsigned long long flags, cudaDriverEntryPointQueryResult *status) {                  \
        char name[kLongestName];                                                                                                   \
        return allowed(symbol, name) ? __real_cudaGetDriverEntryPoint##suffix(name, function, flags, status)                       \
                                     : refuse(function, status);                                                                   \
    }                                                                                                                              \
    extern "C" cudaError_t __real_cudaGetDriverEntryPointByVersion##suffix(const char *, void **, unsigned int, unsigned long long, \
                                                                           cudaDriverEntryPointQueryResult *);                     \
    extern "C" __attribute__((visibility("hidden"))) cudaError_t __wrap_cudaGetDriverEntryPointByVersion##suffix(                  \
        const char *symbol, void **function, unsigned int version, unsigned long long flags,                                       \
        cudaDriverEntryPointQueryResult *status) {                                                                                 \
        char name[kLongestName];                                                                                                   \
        return allowed(symbol, name) ? __real_cudaGetDriverEntryPointByVersion##suffix(name, function, version, flags, status)     \
                                     : refuse(function, status);                                                                   \
    }

GUARDED()
GUARDED(_ptsz)  // what the headers call with CUDA_API_PER_THREAD_DEFAULT_STREAM
