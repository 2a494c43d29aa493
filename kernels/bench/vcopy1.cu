// Shared memory read 4 bytes at a time (vcopy.cuh).

#include "vcopy.cuh"

extern "C" __global__ void __launch_bounds__(kThreads)
    vcopy1(const uint4* in, uint4* out, int blocks) {
  vcopy_body<false>(in, out, blocks);
}
