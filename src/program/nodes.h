#pragma once
// What a slice over registers asks of each instruction of a flat list: what it reads and writes, by
// virtual register, and what kind of thing it is.

#include <cstdint>
#include <optional>
#include <vector>

#include "program/flat.h"
#include "ptx/forms.h"

namespace lw::program {

struct Node {
  std::vector<uint32_t> reads;    // values that it computes with, guard and addresses apart
  std::vector<uint32_t> address;  // bases of addresses
  std::vector<uint32_t> writes;
  std::vector<ptx::VariableId> symbols;  // variables whose address it names
  std::optional<uint32_t> guard;
  ptx::Effect effect = ptx::Effect::none;
  ptx::FormId form = ptx::FormId::none;
};

// As code.instructions; the condition code of add.cc and its kin is a register that has no name:
// the last one, code.registers.size().
std::vector<Node> describe_nodes(const ptx::Module& module, const FlatCode& code);

}  // namespace lw::program
