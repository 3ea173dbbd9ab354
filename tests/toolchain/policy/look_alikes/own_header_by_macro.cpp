// expect: paper=ok strict=ok with=parts/my_cublas_notes.h
// A computed include that can be followed.
#define NOTES "parts/my_cublas_notes.h"
#include NOTES
extern "C" __attribute__((visibility("default"))) int run() { return kNotes; }
