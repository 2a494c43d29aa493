#include "ptx/verify/opcode_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ptx/forms/match.h"

namespace lw::ptx {
namespace {

struct Complaint {
  std::string message;
  std::string hint;
};
using Maybe = std::optional<Complaint>;

// Order of words -------------------------------------------------------------------------------

// Modifiers come in any order, except that some are a part of the instruction's name: `cp.async`,
// `mbarrier.init`, `mul.wide`. In these families the words that a form begins with stand first.
constexpr std::array<std::string_view, 22> kNamed = {"applypriority",
                                                     "bar",
                                                     "barrier",
                                                     "brx",
                                                     "clmad",
                                                     "clusterlaunchcontrol",
                                                     "cp",
                                                     "createpolicy",
                                                     "mad",
                                                     "mad24",
                                                     "madc",
                                                     "mbarrier",
                                                     "mul",
                                                     "mul24",
                                                     "setmaxnreg",
                                                     "shf",
                                                     "tcgen05",
                                                     "tensormap",
                                                     "wgmma",
                                                     "wmma",
                                                     "fabric",
                                                     "multimem"};

struct NamePart {
  std::string_view base;
  Mod word;
};
// And in these, one word does.
constexpr NamePart kNameParts[] = {
    {"fence", Mod::proxy}, {"membar", Mod::proxy}, {"cvt", Mod::pack},  {"cvta", Mod::to},
    {"st", Mod::async},    {"red", Mod::async},    {"st", Mod::bulk},   {"tex", Mod::base},
    {"tex", Mod::level},   {"tex", Mod::grad},     {"txq", Mod::level},
};

// The words at the begin of a pattern that are always there.
std::vector<std::string_view> name_of(const Pattern& pattern) {
  std::vector<std::string_view> words;
  for (const Element& element : pattern.elements) {
    const bool fixed = element.group == kNowhere && element.mods.size() == 1 && !element.is_type();
    if (!fixed || element.mods[0] == Mod::sync || element.mods[0] == Mod::aligned) break;
    words.push_back(name_of(element.mods[0]));
  }
  return words;
}

bool is_space(Mod mod) {
  return mod == Mod::global || mod == Mod::shared || mod == Mod::shared_cta ||
         mod == Mod::shared_cluster;
}

// A copy names where it goes to, then where it comes from.
bool spaces_in_order(const Opcode& opcode, const Pattern& pattern) {
  auto element = pattern.elements.begin();
  for (Mod mod : opcode.mods) {
    if (!is_space(mod)) continue;
    element = std::find_if(element, pattern.elements.end(),
                           [&](const Element& each) { return each.accepts(mod); });
    if (element == pattern.elements.end()) return false;
    ++element;
  }
  return true;
}

Maybe check_order(const Opcode& opcode, const Pattern& pattern) {
  const std::vector<std::string_view> tokens = split_opcode(opcode.text).tokens;
  const auto out_of_order = [&]() -> Maybe {
    return Complaint{fmt::format("`{}` has its words in another order", opcode.text),
                     fmt::format("write `{}`", syntax_of(opcode.form))};
  };
  for (const NamePart& part : kNameParts) {
    if (part.base != pattern.base || !opcode.has(part.word)) continue;
    if (tokens[0] != name_of(part.word)) return out_of_order();
  }
  if (std::ranges::find(kNamed, pattern.base) == kNamed.end()) return std::nullopt;
  const Element& first = pattern.elements[0];
  if (first.group == kNowhere && !first.is_type()) {
    const auto word = find_mod(tokens[0]);
    if (!word || !first.accepts(*word)) return out_of_order();
  }
  const std::vector<std::string_view> name = name_of(pattern);
  const bool same = std::equal(name.begin(), name.end(), tokens.begin());
  if (!same || (pattern.base == "cp" && !spaces_in_order(opcode, pattern))) return out_of_order();
  return std::nullopt;
}

// Vectors --------------------------------------------------------------------------------------

// 128 bits, or 256 from global memory in parts of 32 or 64. PTX ISA, section Vectors, and ld, st.
Maybe check_vector(const Opcode& opcode, const Pattern& pattern) {
  const bool moves = pattern.base == "ld" || pattern.base == "st" || pattern.base == "ldu" ||
                     pattern.base == "mov";
  if (!moves) return std::nullopt;
  const int count = opcode.has(Mod::v8) ? 8 : opcode.has(Mod::v4) ? 4 : opcode.has(Mod::v2) ? 2 : 1;
  const int part = bits_of(opcode.type());
  const bool wide = count * part == 256 && (part == 32 || part == 64);
  const bool of_global = !opcode.has(Mod::shared) && !opcode.has(Mod::shared_cta) &&
                         !opcode.has(Mod::shared_cluster) && !opcode.has(Mod::local) &&
                         !opcode.has(Mod::_const) && !opcode.has(Mod::param);
  const bool may_be_wide = wide && of_global && (pattern.base == "ld" || pattern.base == "st");
  if (count == 8 && !wide) {
    return Complaint{fmt::format("`.v8` does not go with `.{}`", name_of(opcode.type())),
                     "eight parts have 32 bits each"};
  }
  if (count * part > 128 && !may_be_wide) {
    return Complaint{fmt::format("a vector of {} bits is too large", count * part),
                     wide ? "256 bits go to and from global memory alone"
                          : "a vector has 128 bits at most, or 256 as `.v8.b32` or `.v4.b64`"};
  }
  const bool evicts = opcode.has(Mod::L2_evict_first) || opcode.has(Mod::L2_evict_last) ||
                      opcode.has(Mod::L2_evict_normal);
  if (evicts && !wide) {
    return Complaint{"a priority of `.L2` goes with `.v8.b32` and `.v4.b64` alone",
                     "use `.L2::cache_hint` with a policy"};
  }
  return std::nullopt;
}

// Conversions ----------------------------------------------------------------------------------

bool rounds_to_integer(const Opcode& opcode) {
  return opcode.has(Mod::rni) || opcode.has(Mod::rzi) || opcode.has(Mod::rmi) ||
         opcode.has(Mod::rpi);
}
bool rounds(const Opcode& opcode) {
  return opcode.has(Mod::rn) || opcode.has(Mod::rz) || opcode.has(Mod::rm) || opcode.has(Mod::rp);
}

// A narrower float is rounded, a wider one is not, and one of the same type only to an integer.
Maybe check_float_convert(const Opcode& opcode, Type to, Type from) {
  const bool same = to == from;
  const bool narrows = bits_of(to) < bits_of(from);
  const bool may_round = narrows || from == Type::bf16;
  if (narrows && !rounds(opcode)) {
    return Complaint{fmt::format("`{}` lacks a rounding", opcode.text), "write `cvt.rn`"};
  }
  if ((rounds(opcode) && (same || !may_round)) || (rounds_to_integer(opcode) && !same)) {
    return Complaint{
        fmt::format("`{}` has a rounding that it does not take", opcode.text),
        same ? "to an integer, write `cvt.rni`; else leave it out" : "leave the rounding out"};
  }
  if (opcode.has(Mod::ftz) && to != Type::f32 && from != Type::f32) {
    return Complaint{fmt::format("`.ftz` does not go with `.{}.{}`", name_of(to), name_of(from)),
                     "it is for `.f32`"};
  }
  return std::nullopt;
}

// Whether every value of `from` is one of `to`.
bool holds(Type to, Type from) {
  const bool to_signed = kind_of(to) == TypeKind::signed_int;
  const bool from_signed = kind_of(from) == TypeKind::signed_int;
  if (to_signed == from_signed) return bits_of(to) >= bits_of(from);
  return to_signed && bits_of(to) > bits_of(from);
}

Maybe check_convert(const Opcode& opcode) {
  if (opcode.types.size() < 2) return std::nullopt;
  const Type to = opcode.types[0];
  const Type from = opcode.types[1];
  switch (opcode.form) {
    case FormId::cvt_float_float:
    case FormId::cvt_bf16_float:
      return check_float_convert(opcode, to, from);
    case FormId::cvt_int_int:
      if (!opcode.has(Mod::sat) || !holds(to, from)) return std::nullopt;
      return Complaint{fmt::format("`.sat` does nothing: `.{}` holds every value of `.{}`",
                                   name_of(to), name_of(from)),
                       "leave it out"};
    default:
      return std::nullopt;
  }
}

// Additions of halves in memory keep subnormals, and say so.
Maybe check_reduction(const Opcode& opcode) {
  const Type type = opcode.type();
  const bool half = type == Type::f16 || type == Type::bf16;
  const bool adds = opcode.form == FormId::cp_reduce_async_bulk_s2g && opcode.has(Mod::add);
  if (!adds || !half || opcode.has(Mod::noftz)) return std::nullopt;
  return Complaint{fmt::format("`.add` of `.{}` lacks `.noftz`", name_of(type)),
                   fmt::format("write `.add.noftz.{}`", name_of(type))};
}

// From 16 rows of A on, the result has the type of what is added.
Maybe check_accumulator(const Opcode& opcode) {
  if (opcode.form != FormId::mma_f16 || opcode.types.front() == opcode.types.back()) {
    return std::nullopt;
  }
  return Complaint{fmt::format("the result is `.{}` and C is `.{}`", name_of(opcode.types.front()),
                               name_of(opcode.types.back())),
                   "give both one type"};
}

}  // namespace

void check_opcode(const Module& module, const Function& function, const Instruction& instruction,
                  VerifyReport& report) {
  const Opcode& opcode = module.opcode_of(instruction);
  const Pattern& pattern = pattern_of(opcode.form);
  Maybe complaint;
  if (pattern.elements.empty()) return;
  if (!complaint) complaint = check_order(opcode, pattern);
  if (!complaint) complaint = check_vector(opcode, pattern);
  if (!complaint) complaint = check_convert(opcode);
  if (!complaint) complaint = check_accumulator(opcode);
  if (!complaint) complaint = check_reduction(opcode);
  if (complaint) {
    report.at(function, instruction, std::move(complaint->message), std::move(complaint->hint));
  }
}

}  // namespace lw::ptx
