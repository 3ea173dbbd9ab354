// Descriptors of A K-major with B MN-major.
#include "descriptor_sweep.cuh"

int main(int argc, char** argv) { return contracts::Sweep<ptxk::Major::k, ptxk::Major::mn>::main(argc, argv); }
