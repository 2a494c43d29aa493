#pragma once
// One launch described by flags of the command line instead of a file:
//   latewarp check k.ptx --kernel K --grid 2 --block 256 --arg x=f32:1024=normal --arg i32=8 --out
//   x

#include <optional>
#include <string>
#include <vector>

#include "casefile/case.h"
#include "diagnose/diagnostic.h"

namespace lw::casefile {

struct Flags {
  std::string kernel;
  std::string grid;
  std::string block;
  std::string cluster;
  uint64_t shared = 0;
  uint32_t registers = 0;
  uint64_t seed = 0;
  std::vector<std::string> arguments;  // `[name=]dtype:count[=data]` or `dtype=value`
  std::vector<std::string> outputs;
  bool cooperative = false;

  bool given() const { return !kernel.empty(); }
};

std::optional<Case> case_from_flags(const std::string& ptx_path, const Flags& flags,
                                    diagnose::Emitter& emitter);

}  // namespace lw::casefile
