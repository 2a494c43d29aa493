#include "program/operands.h"

#include <algorithm>

namespace lw::program {
namespace {

// Mnemonics whose first operand is a result and no source, whatever the modifiers. (`mma` writes d
// and reads c, which are operands of their own; `wgmma` is not among them.)
constexpr std::string_view kFirstIsResult[] = {
    "abs",       "activemask", "add",        "addc",      "alloca",       "and",
    "atom",      "bfe",        "bfi",        "bfind",     "bmsk",         "brev",
    "clz",       "cnot",       "copysign",   "cos",       "createpolicy", "cvt",
    "cvta",      "div",        "dp2a",       "dp4a",      "elect",        "ex2",
    "fma",       "fns",        "getctarank", "isspacep",  "ld",           "ldmatrix",
    "ldu",       "lg2",        "lop3",       "mad",       "mad24",        "madc",
    "mapa",      "match",      "max",        "min",       "mma",          "mov",
    "movmatrix", "mul",        "mul24",      "neg",       "not",          "or",
    "popc",      "prmt",       "rcp",        "redux",     "rem",          "rsqrt",
    "sad",       "selp",       "set",        "setp",      "shf",          "shfl",
    "shl",       "shr",        "sin",        "slct",      "sqrt",         "sub",
    "subc",      "szext",      "tanh",       "testp",     "vabsdiff",     "vadd",
    "vmad",      "vmax",       "vmin",       "vote",      "vset",         "vshl",
    "vshr",      "vsub",       "xor",        "stacksave", "tld4",         "clusterlaunchcontrol",
    "txq",       "suq"};

}  // namespace

std::string_view mnemonic(const ptx::Opcode& opcode) {
  std::string_view text = opcode.text;
  return text.substr(0, text.find('.'));
}

bool has_only_result_first(const ptx::Opcode& opcode) {
  std::string_view name = mnemonic(opcode);
  if (name == "tcgen05") return opcode.text.starts_with("tcgen05.ld.");
  if (name == "clusterlaunchcontrol") return opcode.text.find(".query_cancel") != std::string::npos;
  return std::ranges::find(kFirstIsResult, name) != std::end(kFirstIsResult);
}

SlotClass slot_class(ptx::Type type) {
  if (type == ptx::Type::pred) return SlotClass::predicate;
  return ptx::bits_of(type) > 32 ? SlotClass::wide : SlotClass::word;
}

uint32_t slots_of(const ptx::Register& reg) {
  return reg.vector * (reg.type == ptx::Type::b128 ? 2u : 1u);
}

}  // namespace lw::program
