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

const std::vector<PtxOperation>& ptx_operations();

}  // namespace lw::arith
