#pragma once
// The notation of forms.def, parsed: the manual's syntax line, made exact.
//
//   add{.rnd}{.ftz}{.sat}.f32 d, a, b;          {x}   may be left out
//   .rnd = { .rn, .rz, .rm, .rp };              .rnd  a list, defined behind the `;`
//
// Opcode. A dot-word is a type, a modifier, or the name of a list of either. Modifiers match as a
// set (PTX allows any order, except that of two from one list), types as a sequence. A group
// {.a{.b}} is there as a whole or not at all; inner groups only with the outer one. In a list,
// `.m64n*k16` stands for all modifiers with a number at the star. Not every combination of lists is
// PTX: `.inc .dec & .type = { .u32 };` says that with one of the words before the `&`, `.type` is
// one of these; with an empty list, that it is not there.
//
// Operands. The name tells the direction: d, p and q (d1, p2 ...) are written, all others are read.
// `[a]` is an address, `[a, {b, }c]` one with more behind it, `d|p` a pair, `d{|p}` one whose
// second half may be missing, `{, c}` an operand that may be missing, `{!}c` a predicate that may
// be negated, `{.unified}` after an address the suffix of that name. Properties follow after
// colons, words and dotted names in any order:
//
//   .f32 .type     its type: a fixed one, or what the opcode has at that place. Without it p, q and
//                  {!}c are predicates, others have `.type`, else the only type of the opcode
//   wide           the register may be wider than the type; double: of twice its width
//   reg imm        only a register, only an immediate
//   0..15 4/8/16   an immediate in that range, or one of these; step8: a multiple of 8; full: all
//                  ones;  sign: -1 or 1
//   any            also a special register, the address of a variable, a function
//   address        a register or the address of a variable
//   sm_90          only on that target and later, where the form itself is older
//   sink           may be `_`;  inout: read and written;  or.pred: or a predicate
//   if.x           there exactly if the opcode has modifier .x, or one of list .x
//   v4             a vector of four; .vec (a list of .v2 .v4 .v8): as that says, without it a
//   scalar coords num     a vector as long as .2d or .x4 says; num2, num4: twice, four times that,
//                  half: half of it;  offsets: those of .im2col in .3d, .4d or .5d
//   mn mk kn       a matrix fragment of an m x n, m x k, k x n tile over 32 threads, by the shape;
//                  fragment: of any length
//   parts          a vector whose elements fill the type together;  vector: of any length
//   label list function arguments opaque   what branches, calls and textures name
//
// Everything here is constexpr: forms.cpp parses each row at compile time, so that a malformed one
// does not compile, and again at run time to keep the result.

#include <array>
#include <string_view>
#include <vector>

#include "ptx/tokens.h"

namespace lw::ptx {

inline constexpr int kNowhere = -1;

// One dot-word of an opcode: any of `types`, or any of `mods`.
struct Element {
  std::string_view name;  // of the list, or the token itself
  std::vector<Type> types;
  std::vector<Mod> mods;
  int group = kNowhere;  // the innermost group it stands in

  constexpr bool is_type() const { return !types.empty(); }
  constexpr bool accepts(Type type) const {
    for (Type each : types) {
      if (each == type) return true;
    }
    return false;
  }
  constexpr bool accepts(Mod mod) const {
    for (Mod each : mods) {
      if (each == mod) return true;
    }
    return false;
  }
};

// With any of the words of `when`, the element is filled by one of `allowed`, or not at all.
struct Constraint {
  Element when;
  int element = kNowhere;
  Element allowed;
};

enum class Shape : uint8_t { value, address, label, list, function, arguments };
enum class Width : uint8_t { exact, at_least, twice };
enum class Length : uint8_t {
  scalar,
  fixed,
  by_list,
  by_dimension,
  by_count,
  half_count,
  by_offset,
  fragment_mn,
  fragment_mk,
  fragment_kn,
  fragment,
  parts,
  open
};

// What an operand may be.
struct OperandSpec {
  std::string_view name;
  Shape shape = Shape::value;
  bool written = false;
  bool read = false;
  bool negatable = false;  // `!p`
  bool signable = false;   // `-a`
  bool registers = true;
  bool immediates = false;
  bool specials = false;  // special registers and functions
  bool symbols = false;   // addresses of variables
  bool sink = false;
  bool or_predicate = false;
  bool opaque = false;
  bool unified = false;

  Type fixed_type = Type::none;
  int type_element = kNowhere;  // else what the opcode has there
  Width width = Width::exact;
  Length length = Length::scalar;
  int count = 1;  // of a fixed vector, or the factor of by_count
  int length_element = kNowhere;
  std::array<int64_t, 4> values{};  // immediates allowed, if any are named
  int value_count = 0;
  bool ranged = false;  // or the range they are in
  int least = 0;
  int most = 0;
  int step = 1;
  int least_target = 0;  // sm that takes the operand, if later than the form's

  int group = kNowhere;          // optional as a whole
  int needs_element = kNowhere;  // `if`: there exactly if this element of the opcode is
  Mod needs_mod = Mod::none;     // or this modifier is
  int first_part = 0;  // into Pattern::parts: the vectors of an address, the half of a pair
  int part_count = 0;
  bool optional_part = false;  // of an address
  bool pair = false;
  bool pair_optional = false;
};

struct Pattern {
  std::string_view base;
  std::vector<Element> elements;
  std::vector<Constraint> constraints;
  std::vector<int> element_groups;  // parent of each, kNowhere at the top
  std::vector<OperandSpec> operands;
  std::vector<OperandSpec> parts;
  std::vector<int> operand_groups;
};

}  // namespace lw::ptx
