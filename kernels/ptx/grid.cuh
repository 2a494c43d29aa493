#pragma once
// Programmatic dependent launch (PTX: griddepcontrol).

namespace ptx {

// Lets the dependent grid start once every CTA of this one has come here or has ended. Tells it
// nothing about our data.
__device__ __forceinline__ void launch_dependents() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

// Returns once the grids that this one depends on are complete: all their accesses come before the
// later ones of this thread. At once where there are none.
__device__ __forceinline__ void wait_for_prerequisites() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

}  // namespace ptx
