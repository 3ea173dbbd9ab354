// expect: paper=ok strict=violation rule=cutlass line=3
// The library's source pasted into the candidate.
namespace cutlass {
struct Shape { int m; };
}
extern "C" __attribute__((visibility("default"))) int run() { return cutlass::Shape{4}.m; }
