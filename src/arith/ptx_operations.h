#pragma once
// For tests: PTX instructions by their text, each with the function of arith that computes it, so
// that results taken on a GPU (tests/agree/arith_samples.tsv) can be compared by name.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lw::arith {

// signature: the type of the result, then of the operands, a letter each: f f32, r 32 bits, h 16
// bits, d f64, l 64 bits. Values are raw bits, zero-extended.
struct PtxOperation {
  std::string ptx;
  std::string signature;
  std::function<uint64_t(uint64_t, uint64_t, uint64_t)> run;
};

using PtxOperations = std::vector<PtxOperation>;

const PtxOperations& ptx_operations();
void add_integer_operations(PtxOperations& table);

// An operand of fewer bits than 64.
inline uint32_t u32(uint64_t x) { return static_cast<uint32_t>(x); }
inline int32_t s32(uint64_t x) { return static_cast<int32_t>(x); }
inline uint16_t u16(uint64_t x) { return static_cast<uint16_t>(x); }

}  // namespace lw::arith
