// expect: paper=ok strict=violation rule=unknown_import line=3
// Something of the program that loads it.
extern "C" int judge_internal_state;
extern "C" __attribute__((visibility("default"))) int run() { return judge_internal_state; }
