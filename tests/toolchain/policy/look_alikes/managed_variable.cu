// expect: paper=ok strict=ok
// The compiler keeps managed variables in a section of their own; a variable of each thread needs the offset table.
__managed__ int counter;
thread_local int calls;
__global__ void count() { ++counter; }
extern "C" __attribute__((visibility("default"))) int run() { count<<<1, 1>>>(); return ++calls; }
