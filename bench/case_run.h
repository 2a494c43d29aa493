#pragma once
// A case of kernels/, run any number of times.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "casefile/inputs.h"
#include "machine/machine.h"

namespace lw::bench {

struct Outcome {
  bool finished = false;
  uint64_t instructions = 0;  // of warps
  uint64_t races = 0;
  double seconds = 0;  // of the processor, in Machine::run alone
  std::string why;     // it did not finish
  std::vector<std::pair<std::string, std::vector<uint8_t>>> outputs;
};

class CaseRun {
 public:
  explicit CaseRun(const std::string& name);  // as in "bench/sgemm"
  bool is_ready() const { return inputs_.has_value(); }
  const std::string& error() const { return error_; }
  Outcome run(bool checked) const;

 private:
  std::optional<casefile::Inputs> inputs_;
  std::string error_;
};

}  // namespace lw::bench
