// Registers moved between warpgroups (PTX ISA, "setmaxnreg").
//
// ptxas drops setmaxnreg (info C7508) unless it knows the registers at entry: declare the kernel
// __launch_bounds__(threads, 1): at most launch_registers(threads) for each. Example, one producer and two consumers:
//   static_assert(registers_fit<384, 40, 232, 232>());   // 168 each at entry
//   if (warpgroup == 0) { setmaxnreg_dec<40>(); ... } else { setmaxnreg_inc<232>(); ... }
#pragma once

namespace ptxk {

// Registers of a thread at entry when one block of `threads` has the SM for itself.
__host__ __device__ constexpr int launch_registers(int threads) {
  const int most = 65536 / threads / 8 * 8;
  return most < 255 ? most : 255;
}

// Whether warpgroups of these registers a thread fit into what a block of kThreads has at entry.
template <int kThreads, int... kRegisters>
__host__ __device__ constexpr bool registers_fit() {
  static_assert(kThreads == 128 * static_cast<int>(sizeof...(kRegisters)), "one number for each warpgroup");
  return (kRegisters + ...) <= launch_registers(kThreads) * static_cast<int>(sizeof...(kRegisters));
}

// By all threads of a warpgroup. New registers hold nothing defined; waits until others have given theirs back.
//@ptxk ptx="setmaxnreg.inc.sync.aligned.u32" sass="USETMAXREG.TRY_ALLOC" contracts=setmaxnreg-budget variants="N=24..256/8"
template <int N>
__device__ __forceinline__ void setmaxnreg_inc() {
  static_assert(N >= 24 && N <= 256 && N % 8 == 0, "24 to 256 registers in steps of 8");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}

//@ptxk ptx="setmaxnreg.dec.sync.aligned.u32" sass="USETMAXREG.DEALLOC" contracts=setmaxnreg-budget variants="N=24..256/8"
template <int N>
__device__ __forceinline__ void setmaxnreg_dec() {
  static_assert(N >= 24 && N <= 256 && N % 8 == 0, "24 to 256 registers in steps of 8");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}

}  // namespace ptxk
