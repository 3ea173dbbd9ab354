// What every contract program has: answers as JSON lines, a CUDA error that ends the program with one, reproducible numbers,
// device memory that starts poisoned, and a comparison that remembers its first wrong case.
//
//   int main(int argc, char** argv) {
//     contracts::Checks checks(argc, argv);
//     model(checks);                            // what the host alone can say; all there is under --model-only
//     if (checks.on_device()) { measure(checks); }
//     return checks.status();
//   }
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace contracts {

constexpr int kFailed = 1;  // something was wrong
constexpr int kBroken = 3;  // CUDA failed: nothing further can be said

inline std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 32) {
      out += ' ';
    } else {
      out += c;
    }
  }
  return out + '"';
}

// printf into a string.
template <typename... Values>
std::string text(const char* format, Values... values) {
  char buffer[512];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

inline std::string text(const char* words) { return words; }

inline void must(cudaError_t error, const char* what, const char* file, int line) {
  if (error == cudaSuccess) {
    return;
  }
  const char* name = std::strrchr(file, '/');
  std::printf("{\"error\":%s}\n", quoted(text("%s:%d: %s: %s (%s)", name ? name + 1 : file, line, what, cudaGetErrorName(error),
                                               cudaGetErrorString(error))).c_str());
  std::fflush(stdout);
  std::_Exit(kBroken);
}

#define CUDA_MUST(call) ::contracts::must((call), #call, __FILE__, __LINE__)
// After a launch: its error, then that of the run.
#define CUDA_FINISH(what)                                                 \
  (::contracts::must(cudaGetLastError(), "launch of " what, __FILE__, __LINE__), \
   ::contracts::must(cudaDeviceSynchronize(), what, __FILE__, __LINE__))

// Cases of one check: how many, how many wrong, and the first that was.
class Tally {
 public:
  // `where` is called for the first wrong case only; it says what was compared where.
  template <typename T, typename U, typename Where>
  void equal(const T& expected, const U& got, Where where) {
    ++cases_;
    if (!(expected == got) && wrong_++ == 0) {
      first_ = where() + text(": expected %.9g, got %.9g", static_cast<double>(expected), static_cast<double>(got));
    }
  }

  template <typename Where>
  void holds(bool condition, Where where) {
    ++cases_;
    if (!condition && wrong_++ == 0) {
      first_ = where();
    }
  }

  Tally& operator+=(const Tally& other) {
    if (wrong_ == 0) {
      first_ = other.first_;
    }
    cases_ += other.cases_;
    wrong_ += other.wrong_;
    return *this;
  }

  uint64_t cases() const { return cases_; }
  uint64_t wrong() const { return wrong_; }
  const std::string& first() const { return first_; }

 private:
  uint64_t cases_ = 0;
  uint64_t wrong_ = 0;
  std::string first_;
};

// The program's answers, one JSON line each.
class Checks {
 public:
  Checks(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      if (std::strcmp(argv[i], "--model-only")) {
        std::printf("{\"error\":%s}\n", quoted(text("unknown argument %s", argv[i])).c_str());
        std::exit(2);
      }
      model_only_ = true;
    }
    if (!model_only_) {
      cudaDeviceProp device{};
      int driver = 0, runtime = 0;
      CUDA_MUST(cudaGetDeviceProperties(&device, 0));
      CUDA_MUST(cudaDriverGetVersion(&driver));
      CUDA_MUST(cudaRuntimeGetVersion(&runtime));
      std::printf("{\"device\":%s,\"capability\":\"%d.%d\",\"cuda_driver\":%d,\"cuda_runtime\":%d}\n", quoted(device.name).c_str(),
                  device.major, device.minor, driver, runtime);
      std::fflush(stdout);
    }
  }

  // False under --model-only. What is reported before this is asked is the host's word, what comes after it the device's.
  bool on_device() {
    device_answers_ = !model_only_;
    return device_answers_;
  }

  // `detail`: the first wrong case, or what was tried.
  void report(const char* contract, const std::string& check, uint64_t cases, uint64_t wrong, const std::string& detail = "") {
    failed_ |= wrong != 0 || cases == 0;
    std::printf("{\"contract\":%s,\"check\":%s,\"cases\":%llu,\"wrong\":%llu,\"detail\":%s,\"where\":\"%s\"}\n",
                quoted(contract).c_str(), quoted(check).c_str(), static_cast<unsigned long long>(cases),
                static_cast<unsigned long long>(wrong), quoted(detail).c_str(), device_answers_ ? "device" : "model");
    std::fflush(stdout);
  }

  void report(const char* contract, const std::string& check, const Tally& tally, const std::string& detail = "") {
    report(contract, check, tally.cases(), tally.wrong(), tally.wrong() ? tally.first() : detail);
  }

  // Figures without a verdict; names end in their unit (_ns, _bytes_per_cycle).
  void measured(const char* contract, const std::string& check, const std::vector<std::pair<std::string, double>>& figures) {
    std::string list;
    for (const auto& [name, value] : figures) {
      list += (list.empty() ? "" : ",") + quoted(name) + text(":%.9g", value);
    }
    std::printf("{\"contract\":%s,\"check\":%s,\"perf\":true,\"figures\":{%s},\"where\":\"device\"}\n", quoted(contract).c_str(),
                quoted(check).c_str(), list.c_str());
    std::fflush(stdout);
  }

  int status() const { return failed_ ? kFailed : 0; }

 private:
  bool failed_ = false;
  bool model_only_ = false;
  bool device_answers_ = false;
};

// splitmix64: the same numbers on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
  }
  // From low to high, both included.
  int between(int low, int high) { return low + static_cast<int>(next() % static_cast<uint64_t>(high - low + 1)); }

 private:
  uint64_t state_;
};

constexpr int kPoison = 0xCB;  // every byte of fresh device memory: a large negative number in any type

// Device memory of `count` elements, poisoned.
template <typename T>
class Device {
 public:
  explicit Device(size_t count) : count_(count) {
    CUDA_MUST(cudaMalloc(&data_, count * sizeof(T)));
    poison();
  }
  explicit Device(const std::vector<T>& values) : Device(values.size()) { write(values); }
  ~Device() { cudaFree(data_); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  void poison() { CUDA_MUST(cudaMemset(data_, kPoison, count_ * sizeof(T))); }
  void write(const std::vector<T>& values) {
    CUDA_MUST(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    CUDA_MUST(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
  T* get() const { return data_; }
  size_t size() const { return count_; }

 private:
  T* data_ = nullptr;
  size_t count_ = 0;
};

}  // namespace contracts
