#pragma once
// Outputs against a reference, for `latewarp run`; and two runs' outputs bit by bit, for a witness.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "casefile/case.h"
#include "diagnose/diagnostic.h"

namespace lw::casefile {

// An output passes when its RMSE ratio or its largest absolute error is small enough; the cosine
// counts only where the reference's norm exceeds 1e-6.
struct Comparison {
  std::string buffer;
  double rmse_ratio = 0;  // root mean square of the difference over that of the reference
  double max_abs = 0;
  double cosine = 1;
  double reference_norm = 0;
  uint64_t not_numbers = 0;  // elements that are NaN or infinite in one of the two alone
  bool passed = false;
};

Comparison compare(const std::string& name, const std::vector<double>& output,
                   const std::vector<double>& reference, const Check& bounds);

// The reference of one output, as numbers; a diagnostic if it cannot be read or has another size.
std::optional<std::vector<double>> read_reference(const Case& parts, const Buffer& output,
                                                  diagnose::Emitter& emitter);

std::vector<double> as_numbers(const std::vector<uint8_t>& bytes, Dtype dtype);

// How two versions of one buffer differ; a word is an element.
struct Difference {
  uint64_t words = 0;
  uint64_t changed = 0;
  struct Word {
    uint64_t index = 0;  // of the element
    uint64_t before = 0;
    uint64_t after = 0;
  };
  std::vector<Word> first;  // at most four
};

Difference difference(const std::vector<uint8_t>& before, const std::vector<uint8_t>& after,
                      Dtype dtype);

}  // namespace lw::casefile
