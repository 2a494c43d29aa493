#include "program/mentions.h"

namespace lw::program {

Mentions::Mentions(const ptx::Module& module, const FlatCode& code) : module_(module), code_(code) {
  for (const ptx::Opcode& opcode : module.opcodes)
    first_is_result_.push_back(has_only_result_first(opcode));
}

}  // namespace lw::program
