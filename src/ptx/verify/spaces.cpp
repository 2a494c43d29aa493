#include "ptx/verify/spaces.h"

#include "ptx/print/declarations.h"

namespace lw::ptx {
namespace {

std::optional<Space> space_of(Mod mod) {
  switch (mod) {
    case Mod::global:
      return Space::global;
    case Mod::_const:
      return Space::constant;
    case Mod::local:
      return Space::local;
    case Mod::param:
    case Mod::param_entry:
    case Mod::param_func:
      return Space::param;
    case Mod::shared:
    case Mod::shared_cta:
    case Mod::shared_cluster:
      return Space::shared;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Space> only_space(const Opcode& opcode) {
  std::optional<Space> found;
  // Copies have two sides and barrier objects a third; one word does not speak for all of them.
  const bool several = opcode.has(Mod::async) || opcode.has(Mod::bulk) ||
                       opcode.has(Mod::cp_fenceproxy) || opcode.text.starts_with("cp.");
  if (several) return std::nullopt;
  for (Mod mod : opcode.mods) {
    const auto space = space_of(mod);
    if (!space) continue;
    if (found) return std::nullopt;
    found = space;
  }
  return found;
}

bool names_space(const Opcode& opcode) {
  for (Mod mod : opcode.mods) {
    if (space_of(mod)) return true;
  }
  return opcode.has(Mod::async);
}

bool takes_narrow_addresses(const Opcode& opcode) {
  return opcode.text.starts_with("tcgen05") || opcode.text.starts_with("ldmatrix") ||
         opcode.text.starts_with("stmatrix");
}

std::string_view word_for(Space space) { return word_of(space); }

}  // namespace lw::ptx
