// Lanes that part in every turn of the loop: neighbours take different arms, and the arms part
// again. What an instruction costs that runs for a few lanes only.

#include <cstdint>

extern "C" __global__ void __launch_bounds__(256) diverge(uint32_t* out, int iterations) {
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t a = thread + 1;
  uint32_t b = thread * 7 + 3;
#pragma unroll 1
  for (int i = 0; i < iterations; ++i) {
    if (thread & 1) {
      a = a * 5 + (b >> 3);
      b = (b ^ a) + 11;
      a += b << 2;
      if (b & 2) {
        a = (a ^ (b << 7)) * 9;
        b = b * 13 + (a >> 4);
        a -= b & 0x0f0f0f0fu;
      } else {
        b = (b | 5) * 17 - a;
        a = (a >> 1) + (b ^ 0x55u);
        b += a << 3;
      }
    } else {
      b = b * 3 + (a >> 5);
      a = (a ^ (b << 1)) - 7;
      b += a >> 2;
      if (a & 4) {
        b = (b ^ (a >> 6)) * 19;
        a = a * 21 + (b << 5);
        b -= a & 0x00ff00ffu;
      } else {
        a = (a | 9) * 23 - b;
        b = (b << 1) + (a ^ 0x33u);
        a += b >> 3;
      }
    }
  }
  out[thread] = a ^ b;
}
