// Small candidates for the tests of the child's process: run(x, y) on two float32 vectors of equal length, x an input that is lent
// read-only. Each is exported by a name of its own. Only the C part of TVM-FFI is used, which compiles fast.

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include <cuda.h>
#include <cuda_runtime.h>

namespace {

struct Vectors {
  float* x;
  float* y;
  int n;
  cudaStream_t stream;
};

Vectors unpack(const TVMFFIAny* arguments) {
  const auto* x = static_cast<const DLTensor*>(arguments[0].v_ptr);
  const auto* y = static_cast<const DLTensor*>(arguments[1].v_ptr);
  return {static_cast<float*>(x->data), static_cast<float*>(y->data), static_cast<int>(x->shape[0]),
          static_cast<cudaStream_t>(TVMFFIEnvGetStream(x->device.device_type, x->device.device_id))};
}

int fail(const char* kind, const std::string& text) {
  TVMFFIErrorSetRaisedFromCStr(kind, text.c_str());
  return -1;
}

int blocks(int n) { return (n + 255) / 256; }

__global__ void add_one(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1.0f;
}

__global__ void touch(float* x) { x[threadIdx.x] = 7.0f; }

__global__ void far_away(float* y) { y[1ull << 40] = 1.0f; }

__global__ void spin(volatile float* y) {
  while (y[0] != 12345.0f) {
  }
}

__global__ void __cluster_dims__(2, 1, 1) in_clusters(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1.0f;
}

std::string text_of(const char* path) {
  char data[4096];
  const int file = open(path, O_RDONLY);
  if (file < 0) return "";
  const ssize_t size = read(file, data, sizeof data - 1);
  close(file);
  return std::string(data, size > 0 ? size : 0);
}

}  // namespace

#define CANDIDATE(name) \
  extern "C" __attribute__((visibility("default"))) int __tvm_ffi_##name(void*, const TVMFFIAny* arguments, int32_t, TVMFFIAny*)

CANDIDATE(add) {
  const Vectors v = unpack(arguments);
  add_one<<<blocks(v.n), 256, 0, v.stream>>>(v.x, v.y, v.n);
  return 0;
}

// A fill and a kernel on a stream that waits for no other, then a copy on the default one.
CANDIDATE(spreads) {
  const Vectors v = unpack(arguments);
  static cudaStream_t own = [] {
    cudaStream_t made;
    cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
    return made;
  }();
  cudaMemsetAsync(v.y, 0, v.n * sizeof(float), own);
  add_one<<<blocks(v.n), 256, 0, own>>>(v.x, v.y, v.n);
  cudaStreamSynchronize(own);
  cudaMemcpyAsync(v.y, v.y + v.n / 2, 4, cudaMemcpyDeviceToDevice, v.stream);
  cudaMemcpyAsync(v.y, v.y + 1, 4, cudaMemcpyDeviceToDevice, v.stream);
  add_one<<<blocks(v.n), 256, 0, v.stream>>>(v.x, v.y, v.n);
  return 0;
}

CANDIDATE(idles) { return 0; }

CANDIDATE(faults) {
  far_away<<<1, 1>>>(unpack(arguments).y);
  return 0;
}

CANDIDATE(hangs) {
  spin<<<132, 32>>>(unpack(arguments).y);
  return 0;
}

CANDIDATE(raises) { return fail("ValueError", "not today"); }

CANDIDATE(exits) { _exit(7); }

// A block of 4096 threads: the launch is refused, and nobody looks.
CANDIDATE(refused) {
  add_one<<<1, 4096>>>(unpack(arguments).x, unpack(arguments).y, 1);
  return 0;
}

// A cluster launch, and memory from the driver's pool.
CANDIDATE(clusters) {
  const Vectors v = unpack(arguments);
  float* own = nullptr;
  cudaError_t error = cudaMallocAsync(&own, v.n * sizeof(float), v.stream);
  if (error != cudaSuccess) return fail("RuntimeError", std::string("cudaMallocAsync: ") + cudaGetErrorString(error));
  in_clusters<<<blocks(v.n) + blocks(v.n) % 2, 256, 0, v.stream>>>(v.x, own, v.n);
  cudaMemcpyAsync(v.y, own, v.n * sizeof(float), cudaMemcpyDeviceToDevice, v.stream);
  cudaFreeAsync(own, v.stream);
  float* plain = nullptr;
  error = cudaMalloc(&plain, 64 << 20);
  if (error == cudaSuccess) error = cudaFree(plain);
  if (error == cudaSuccess) error = cudaGetLastError();
  return error == cudaSuccess ? 0 : fail("RuntimeError", cudaGetErrorString(error));
}

CANDIDATE(greedy) {
  float* own = nullptr;
  const cudaError_t error = cudaMalloc(&own, 1ull << 43);
  return error == cudaSuccess ? 0 : fail("RuntimeError", cudaGetErrorString(error));
}

CANDIDATE(writes_input) {
  touch<<<1, 32>>>(unpack(arguments).x);
  return 0;
}

// Ask the driver for the right to write what was lent for reading, then write it.
CANDIDATE(widens) {
  const Vectors v = unpack(arguments);
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  CUdeviceptr base = 0;
  size_t size = 0;
  const auto address = reinterpret_cast<CUdeviceptr>(v.x);
  reinterpret_cast<CUresult (*)(CUdeviceptr*, size_t*, CUdeviceptr)>(dlsym(driver, "cuMemGetAddressRange_v2"))(&base, &size, address);
  CUmemAccessDesc access = {};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  const CUresult result = reinterpret_cast<CUresult (*)(CUdeviceptr, size_t, const CUmemAccessDesc*, size_t)>(
      dlsym(driver, "cuMemSetAccess"))(base, size, &access, 1);
  if (result != CUDA_SUCCESS) return fail("RuntimeError", "refused with error " + std::to_string(result));
  touch<<<1, 32, 0, v.stream>>>(v.x);
  return 0;
}

// A thread that goes on launching after the call has returned.
CANDIDATE(lingers) {
  const Vectors v = unpack(arguments);
  static std::thread* other = new std::thread([v] {
    for (;;) {
      add_one<<<1, 32>>>(v.x, v.y, 32);
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  });
  (void)other;
  return 0;
}

// Try what a candidate has no business with, and report by error what could be done: an empty report is a tight sandbox.
CANDIDATE(pries) {
  std::string report;
  for (const char* path : {"/etc/shadow", "/etc/gshadow", "/dev/kmsg", "/proc/1/environ"})
    if (open(path, O_RDONLY) >= 0) report += std::string("reads ") + path + "; ";
  const std::string memory = "/proc/" + std::to_string(getppid()) + "/mem";
  if (open(memory.c_str(), O_RDWR) >= 0) report += "opens the judge's memory; ";
  if (open("/tmp/ptxbench-was-here", O_CREAT | O_WRONLY, 0600) >= 0) report += "writes files; ";
  if (kill(getppid(), 0) == 0) report += "may signal the judge; ";
  if (socket(AF_INET, SOCK_STREAM, 0) >= 0) report += "makes sockets; ";
  const pid_t child = fork();
  if (child == 0) _exit(0);
  if (child > 0) report += "forks; ";
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) report += "no threads to be seen; ";
  while (const dirent* task = tasks ? readdir(tasks) : nullptr) {
    const std::string status = text_of(("/proc/self/task/" + std::string(task->d_name) + "/status").c_str());
    if (status.empty()) continue;
    for (const char* wanted : {"NoNewPrivs:\t1", "Seccomp:\t2"})
      if (status.find(wanted) == std::string::npos) report += "a thread lacks " + std::string(wanted) + "; ";
    // The threads that the driver made before Landlock bound this one read nothing that only root may.
    const size_t held = status.find("CapEff:\t");
    const std::string rights = held == std::string::npos ? "" : status.substr(held + 8, 16);
    if (rights != "0000000000000004" && rights != "0000000000000000") report += "a thread may " + rights + "; ";
  }
  return fail("Report", report);
}
