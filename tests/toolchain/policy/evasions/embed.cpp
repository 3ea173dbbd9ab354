// expect: paper=ok strict=violation rule=incbin line=4
// The preprocessor takes a file in.
const unsigned char data[] = {
#embed "/etc/hostname"
};
extern "C" __attribute__((visibility("default"))) int run(int i) { return data[i]; }
