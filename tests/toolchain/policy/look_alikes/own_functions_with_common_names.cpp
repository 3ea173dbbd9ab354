// expect: paper=ok strict=ok
// Functions of its own with names of system calls.
namespace queue {
static int pipe = 1;
static int send(int x) { return x + pipe; }
static int connect(int x) { return send(x); }
static int system(int x) { return connect(x); }
static int fork(int x) { return system(x); }
}
extern "C" __attribute__((visibility("default"))) int run(int x) { return queue::fork(x); }
