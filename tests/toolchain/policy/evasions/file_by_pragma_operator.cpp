// expect: paper=ok strict=violation rule=include_path line=3
// The same by the operator, as a precompiled header.
_Pragma("GCC pch_preprocess \"/etc/hostname\"")
extern "C" __attribute__((visibility("default"))) int run() { return 0; }
