// Descriptors of A MN-major with B MN-major.
#include "descriptor_sweep.cuh"

int main(int argc, char** argv) { return contracts::Sweep<ptxk::Major::mn, ptxk::Major::mn>::main(argc, argv); }
