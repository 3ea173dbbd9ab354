// Dies of a signal that has no name.
#include "softmax.h"

#include <csignal>
#include <unistd.h>
void run(float*, float*, int64_t, int64_t) { kill(getpid(), SIGRTMIN + 5); }
