// Programmatic dependent launch (PTX ISA, "griddepcontrol"); the host's side is launch_dependent in launch.cuh.
#pragma once

namespace ptxk {

// Until the grids before have ended and what they wrote is visible.
//@ptxk ptx="griddepcontrol.wait" sass="ACQBULK" contracts=pdl-order
__device__ __forceinline__ void griddep_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

// The next grid may begin once every block said this or ended. It publishes no memory.
//@ptxk ptx="griddepcontrol.launch_dependents" sass="PREEXIT" contracts=pdl-order
__device__ __forceinline__ void griddep_launch() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

}  // namespace ptxk
