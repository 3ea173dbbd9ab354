// expect: paper=ok strict=ok
// Threads.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
extern "C" __attribute__((visibility("default"))) int run() {
    std::atomic<int> count{0}; std::mutex mutex; std::condition_variable done;
    std::thread worker([&] { std::lock_guard<std::mutex> lock(mutex); ++count; done.notify_one(); });
    worker.join(); std::unique_lock<std::mutex> lock(mutex); done.wait(lock, [&] { return count == 1; });
    return count;
}
