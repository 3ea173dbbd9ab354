// expect: paper=ok strict=violation rule=process_control line=4
// Seen by the import, whatever the source looks like.
#include <sys/socket.h>
extern "C" __attribute__((visibility("default"))) int run() { return socket(AF_INET, SOCK_STREAM, 0); }
