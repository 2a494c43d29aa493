#pragma once
// Everything a run starts from, made once: parsed modules and the bytes of buffers. Every run of
// the same inputs sets up a machine of its own, so that runs cannot touch each other.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "casefile/case.h"
#include "diagnose/diagnostic.h"
#include "machine/machine.h"
#include "ptx/module.h"

namespace lw::casefile {

struct Inputs {
  Case parts;
  std::vector<ptx::Module> modules;            // as Case::modules
  std::vector<std::vector<uint8_t>> contents;  // as Case::buffers; empty: nobody wrote it
  std::vector<std::vector<uint8_t>> raw_maps;  // as Case::tensor_maps; empty: described by fields
};

// Parses the modules, makes the data, and checks every launch against its kernel.
std::optional<Inputs> load_inputs(Case parts, uint64_t memory_limit_bytes,
                                  diagnose::Emitter& emitter);

// A machine ready to run.
struct SetUp {
  std::unique_ptr<machine::Machine> machine;
  std::vector<machine::ModuleId> modules;  // as Case::modules
  std::vector<machine::BufferId> buffers;  // as Case::buffers
  std::vector<std::string> assumptions;    // what was supplied because nobody said it
  std::optional<base::GridId> antagonist;  // the launch of ours, behind those of the case
};

// Who runs beside the case's kernels (antagonist.h).
enum class Antagonist : uint8_t { none, tmem };

// Byte that fills buffers which nobody wrote; a second run with another one shows who reads them.
inline constexpr uint8_t kUnwrittenFill = 0;

std::optional<SetUp> set_up(const Inputs& inputs, const machine::Options& options,
                            diagnose::Emitter& emitter, uint8_t unwritten_fill = kUnwrittenFill,
                            Antagonist antagonist = Antagonist::none);

// The bytes of a buffer of the case as the machine holds them now.
std::vector<uint8_t> buffer_bytes(const SetUp& run, size_t buffer);

// The buffers whose bytes count as output: those that [check] names, else all. Indices.
std::vector<size_t> output_buffers(const Case& parts);

}  // namespace lw::casefile
