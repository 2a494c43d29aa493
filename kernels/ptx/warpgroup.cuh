#pragma once
// Registers handed from the four warps of one role to those of another (PTX: setmaxnreg). Executed
// by every warp of a warpgroup; it moves registers inside the CTA's own pool and orders no memory.

namespace ptx {

// Waits until others have given enough back.
template <int kRegisters>
__device__ __forceinline__ void take_registers() {
  static_assert(kRegisters % 8 == 0 && kRegisters >= 24 && kRegisters <= 256);
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

template <int kRegisters>
__device__ __forceinline__ void give_registers() {
  static_assert(kRegisters % 8 == 0 && kRegisters >= 24 && kRegisters <= 256);
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

}  // namespace ptx
