// expect: paper=ok strict=violation rule=dynamic_loading
// The same through the C library.
#include <link.h>
static int look(dl_phdr_info *, size_t, void *) { return 0; }
extern "C" __attribute__((visibility("default"))) int run() { return dl_iterate_phdr(look, nullptr); }
