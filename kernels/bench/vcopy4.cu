// Shared memory read 16 bytes at a time (vcopy.cuh).

#include "vcopy.cuh"

extern "C" __global__ void __launch_bounds__(kThreads)
    vcopy4(const uint4* in, uint4* out, int blocks) {
  vcopy_body<true>(in, out, blocks);
}
