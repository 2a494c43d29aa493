// Integer and fp32 arithmetic, 32 and 64 bits wide, in a long block: no memory in the loop, no lane
// ever alone. What an instruction costs that only touches registers.

#include <cstdint>

#include "../ptx/math.cuh"

extern "C" __global__ void __launch_bounds__(256) alu(float* out, int iterations) {
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t word = thread * 2654435761u;
  uint64_t address = thread;
  float x = static_cast<float>(thread & 1023) * 0x1p-10f;
  float y = 1.0f - x;
#pragma unroll 1
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (uint32_t part = 1; part <= 4; ++part) {
      word = (word ^ (word >> 7)) * (2 * part + 1) + static_cast<uint32_t>(i);
      word = (word << 5 | word >> 27) + (word & 0xff00ff00u);
      address = address * 25 + (address >> 9 ^ word) + part;
      const uint32_t low = static_cast<uint32_t>(address) - min(word, 0x7fffffffu);
      x = ptx::fma(x, 0.75f, y) - static_cast<float>(low >> 24) * 0x1p-9f;
      y = fminf(fmaxf(ptx::fma(y, x, 0.25f), -1.0f), 1.0f);
      word += low > 0x80000000u ? 3 : part;
    }
  }
  out[thread] = x + y + static_cast<float>((word ^ static_cast<uint32_t>(address >> 16)) & 0xffff);
}
