// Starts threads until it cannot, then dies of the exception.
#include "softmax.h"

#include <thread>
void run(float*, float*, int64_t, int64_t) {
  for (;;) std::thread([] { for (;;) std::this_thread::yield(); }).detach();
}
