// expect: error preprocess @ 3 2 #error this needs another size
#if 1
#error this needs another size
#endif
