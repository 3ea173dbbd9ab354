// expect: paper=ok strict=violation rule=section_attribute line=3
// With digraphs, a using prefix and underscores.
<:<: using gnu : __section__(".text") :>:> const unsigned char code<::> = {0xc3};
extern "C" __attribute__((visibility("default"))) int run() { return code<:0:>; }
