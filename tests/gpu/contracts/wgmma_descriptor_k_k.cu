// Descriptors of A K-major with B K-major.
#include "descriptor_sweep.cuh"

int main(int argc, char** argv) { return contracts::Sweep<ptxk::Major::k, ptxk::Major::k>::main(argc, argv); }
