// expect: paper=ok strict=violation rule=include_path line=3
// A pragma that opens a file.
#pragma GCC dependency "/etc/hostname"
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
