// expect: error preprocess @ 2 10 no_such_header.h: No such file or directory
#include <no_such_header.h>
