#include "ptx/forms/operands.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "ptx/forms/match.h"

namespace lw::ptx {
namespace {

struct Tile {
  int m = 0, n = 0, k = 0;
};

// `m16n8k16`; zeros where a part is missing.
Tile parse_tile(std::string_view token) {
  Tile tile;
  for (const char* at = token.data(); at < token.data() + token.size();) {
    int* part = *at == 'm' ? &tile.m : *at == 'n' ? &tile.n : *at == 'k' ? &tile.k : nullptr;
    if (part == nullptr) return {};
    const auto [stop, error] = std::from_chars(at + 1, token.data() + token.size(), *part);
    if (error != std::errc()) return {};
    at = stop;
  }
  return tile;
}

Tile tile_of(const Opcode& opcode) {
  for (Mod mod : opcode.mods) {
    const Tile tile = parse_tile(name_of(mod));
    if (tile.m != 0 && tile.k != 0) return tile;
  }
  return {};
}

// Bits an element takes in a fragment: FP6 and FP4 stand in bytes unless the kind packs them.
int fragment_bits(Type type, const Opcode& opcode) {
  const bool packed = opcode.has(Mod::kind_mxf4) || opcode.has(Mod::kind_mxf4nvf4);
  if (kind_of(type) == TypeKind::floating && bits_of(type) < 8) return packed ? 4 : 8;
  return bits_of(type);
}

// Registers per thread of a tile spread over a warp, or over the four warps of a warpgroup.
int fragment_length(int elements, Type type, const Opcode& opcode) {
  const int threads = opcode.text.starts_with("wgmma") ? 128 : 32;
  const int bits = fragment_bits(type, opcode);
  // m8n8k4 on f16 is four products at once, one for each group of eight lanes.
  const bool quads =
      opcode.has(Mod::m8n8k4) && !opcode.text.starts_with("wmma") && opcode.type() != Type::f64;
  const int total = elements * bits * (quads ? 4 : 1);
  return total / (threads * std::max(32, bits));
}

int fragment_length(const OperandSpec& spec, Type type, const Opcode& opcode) {
  const Tile tile = tile_of(opcode);
  const bool sparse = opcode.has(Mod::sp) || opcode.has(Mod::sp_ordered_metadata);
  if (spec.length == Length::fragment_mn) return fragment_length(tile.m * tile.n, type, opcode);
  if (spec.length == Length::fragment_kn) return fragment_length(tile.k * tile.n, type, opcode);
  return fragment_length(tile.m * tile.k / (sparse ? 2 : 1), type, opcode);
}

// Coordinates: of tensor copies as many as dimensions, five rows and columns for gather and
// scatter; of textures and surfaces padded to 1, 2 or 4.
int dimension_length(const Opcode& opcode) {
  const bool tensor = opcode.has(Mod::tensor);
  if (opcode.has(Mod::tile_gather4) || opcode.has(Mod::tile_scatter4)) return 5;
  if (opcode.has(Mod::_1d)) return 1;
  if (opcode.has(Mod::_2d) || opcode.has(Mod::a1d)) return 2;
  if (opcode.has(Mod::_3d)) return tensor ? 3 : 4;
  if (opcode.has(Mod::_5d)) return 5;
  return 4;
}

// `.im2col` has one offset for each dimension of the filter; `.im2col::w` has a halo and an offset.
int offset_length(const Opcode& opcode) {
  return opcode.has(Mod::im2col) ? dimension_length(opcode) - 2 : 2;
}

struct Counted {
  Mod mod;
  int count;
};
constexpr Counted kCounts[] = {{Mod::x1, 1},   {Mod::x2, 2},   {Mod::x4, 4},   {Mod::x8, 8},
                               {Mod::x16, 16}, {Mod::x32, 32}, {Mod::x64, 64}, {Mod::x128, 128},
                               {Mod::v1, 1},   {Mod::v2, 2},   {Mod::v4, 4},   {Mod::v8, 8}};

int counted_length(const Opcode& opcode, bool vectors) {
  for (const auto& [mod, count] : kCounts) {
    const bool is_vector = name_of(mod)[0] == 'v';
    if (is_vector == vectors && opcode.has(mod)) return count;
  }
  return 0;
}

bool is_predicate(const Function& function, const Operand& operand) {
  return operand.kind == OperandKind::reg && function.registers[operand.id].type == Type::pred;
}

// One value that is no vector.
bool scalar_fits(const OperandSpec& spec, Type type, const Function& function,
                 const Operand& operand) {
  switch (operand.kind) {
    case OperandKind::reg: {
      if (!spec.registers && !spec.opaque) return false;
      const bool may_negate = spec.negatable || spec.signable || type == Type::pred;
      if (operand.negated && !may_negate) return false;
      if (spec.or_predicate && is_predicate(function, operand)) return true;
      return is_predicate(function, operand) == (type == Type::pred);
    }
    case OperandKind::immediate:
      return spec.immediates;
    case OperandKind::special:
      return spec.specials || spec.immediates;
    case OperandKind::function:
      return spec.specials;
    case OperandKind::symbol:
      return spec.symbols;
    case OperandKind::sink:
      return spec.sink;
    default:
      return false;
  }
}

bool vector_fits(const OperandSpec& spec, Type type, int length, const Function& function,
                 const Operand& operand) {
  if (operand.kind == OperandKind::reg) {
    return length > 1 && function.registers[operand.id].vector == length;
  }
  if (operand.kind != OperandKind::vector) return false;
  if (length != 0 && operand.count != static_cast<uint32_t>(length)) return false;
  const auto elements = function.elements_of(operand);
  return std::all_of(elements.begin(), elements.end(), [&](const Operand& element) {
    return element.kind == OperandKind::sink || scalar_fits(spec, type, function, element);
  });
}

bool value_fits(const OperandSpec& spec, const Pattern& pattern, const Opcode& opcode,
                const Function& function, const Operand& operand) {
  const Type type = type_of_operand(spec, pattern, opcode);
  const std::optional<int> length = expected_length(spec, pattern, opcode);
  if (!length) return vector_fits(spec, type, 0, function, operand);
  const bool is_vector = operand.kind == OperandKind::vector;
  // `.x1` still wants its braces.
  const bool counted = spec.length == Length::by_count || spec.length == Length::by_offset;
  if (*length <= 1 && !is_vector && !counted) return scalar_fits(spec, type, function, operand);
  if (*length == 0 && spec.length != Length::by_list) return false;
  return vector_fits(spec, type, std::max(*length, 1), function, operand);
}

bool pair_fits(const OperandSpec& spec, const Pattern& pattern, const Opcode& opcode,
               const Function& function, const Operand& operand) {
  if (operand.kind != OperandKind::pair) {
    return spec.pair_optional && value_fits(spec, pattern, opcode, function, operand);
  }
  const auto halves = function.elements_of(operand);
  const OperandSpec& second = pattern.parts[spec.first_part];
  const auto fits = [&](const OperandSpec& half, const Operand& value) {
    return value.kind == OperandKind::sink || value_fits(half, pattern, opcode, function, value);
  };
  return fits(spec, halves[0]) && fits(second, halves[1]);
}

// Lays the elements behind an address on its parts, from `element` and `part` on.
bool place_parts(const OperandSpec& spec, const Pattern& pattern, const Opcode& opcode,
                 const Function& function, std::span<const Operand> elements, int part,
                 Binding& binding) {
  if (part == spec.part_count) return elements.empty();
  const OperandSpec& current = pattern.parts[spec.first_part + part];
  const bool allowed =
      current.needs_element == kNowhere || has_element(pattern, opcode, current.needs_element);
  if (allowed && !elements.empty() && value_fits(current, pattern, opcode, function, elements[0])) {
    binding.push_back(&current);
    if (place_parts(spec, pattern, opcode, function, elements.subspan(1), part + 1, binding)) {
      return true;
    }
    binding.pop_back();
  }
  return current.optional_part &&
         place_parts(spec, pattern, opcode, function, elements, part + 1, binding);
}

bool address_fits(const OperandSpec& spec, const Pattern& pattern, const Opcode& opcode,
                  const Function& function, const Operand& operand) {
  if (spec.part_count == 0) {
    return operand.kind == OperandKind::address && (operand.component == 0 || spec.unified);
  }
  if (operand.kind != OperandKind::tensor) return false;
  return lay_parts(spec, pattern, opcode, function, operand).has_value();
}

// Lays operands on specifications from left to right; optional groups are tried, then skipped.
class Laying {
 public:
  Laying(const Pattern& pattern, const Opcode& opcode, const Function& function,
         std::span<const Operand> operands)
      : pattern_(pattern), opcode_(opcode), function_(function), operands_(operands) {}

  std::optional<Binding> lay() {
    if (!place(0, 0)) return std::nullopt;
    return std::move(binding_);
  }

 private:
  bool place(size_t operand, size_t spec) {
    if (spec == pattern_.operands.size()) return operand == operands_.size();
    const OperandSpec& current = pattern_.operands[spec];
    const bool wanted = needed(current);
    if (wanted && operand < operands_.size() &&
        shape_fits(current, pattern_, opcode_, function_, operands_[operand])) {
      binding_.push_back(&current);
      if (place(operand + 1, spec + 1)) return true;
      binding_.pop_back();
    }
    const bool must_be_there = current.needs_element != kNowhere && wanted;
    const bool begins_group = current.group != kNowhere &&
                              (spec == 0 || pattern_.operands[spec - 1].group != current.group);
    return begins_group && !must_be_there && place(operand, end_of_group(spec));
  }

  // Whether `if.x` lets the operand be there.
  bool needed(const OperandSpec& spec) const {
    return spec.needs_element == kNowhere || has_element(pattern_, opcode_, spec.needs_element);
  }

  size_t end_of_group(size_t spec) const {
    const int group = pattern_.operands[spec].group;
    while (spec < pattern_.operands.size() && pattern_.operands[spec].group == group) ++spec;
    return spec;
  }

  const Pattern& pattern_;
  const Opcode& opcode_;
  const Function& function_;
  std::span<const Operand> operands_;
  Binding binding_;
};

}  // namespace

std::optional<Binding> lay_parts(const OperandSpec& spec, const Pattern& pattern,
                                 const Opcode& opcode, const Function& function,
                                 const Operand& operand) {
  Binding binding;
  const auto elements = function.elements_of(operand).subspan(1);
  if (!place_parts(spec, pattern, opcode, function, elements, 0, binding)) return std::nullopt;
  return binding;
}

Type type_of_operand(const OperandSpec& spec, const Pattern& pattern, const Opcode& opcode) {
  if (spec.type_element == kNowhere) return spec.fixed_type;
  // The types of the opcode stand in the order of the type elements that are filled; a row has an
  // optional type element only where the others cannot be mistaken for it.
  size_t next = 0;
  for (int i = 0; i <= spec.type_element; ++i) {
    const Element& element = pattern.elements[i];
    if (!element.is_type() || next == opcode.types.size()) continue;
    if (!element.accepts(opcode.types[next])) continue;
    if (i == spec.type_element) return opcode.types[next];
    ++next;
  }
  return Type::none;
}

std::optional<int> expected_length(const OperandSpec& spec, const Pattern& pattern,
                                   const Opcode& opcode) {
  switch (spec.length) {
    case Length::scalar:
      return 0;
    case Length::fixed:
      return spec.count;
    case Length::by_list:
      return counted_length(opcode, true);
    case Length::by_count:
      return counted_length(opcode, false) * spec.count;
    case Length::half_count:
      return counted_length(opcode, false) / 2;
    case Length::by_dimension:
      return dimension_length(opcode);
    case Length::by_offset:
      return offset_length(opcode);
    case Length::fragment_mn:
    case Length::fragment_mk:
    case Length::fragment_kn:
      return fragment_length(spec, type_of_operand(spec, pattern, opcode), opcode);
    case Length::fragment:
    case Length::parts:
    case Length::open:
      return std::nullopt;
  }
  return std::nullopt;
}

bool shape_fits(const OperandSpec& spec, const Pattern& pattern, const Opcode& opcode,
                const Function& function, const Operand& operand) {
  switch (spec.shape) {
    case Shape::address:
      return address_fits(spec, pattern, opcode, function, operand);
    case Shape::label:
      return operand.kind == OperandKind::label;
    case Shape::list:
      return operand.kind == OperandKind::list;
    case Shape::arguments:
      return operand.kind == OperandKind::arguments;
    case Shape::function:
      return operand.kind == OperandKind::function || operand.kind == OperandKind::reg;
    case Shape::value:
      break;
  }
  if (spec.pair) return pair_fits(spec, pattern, opcode, function, operand);
  return value_fits(spec, pattern, opcode, function, operand);
}

std::optional<Binding> bind_operands(const Pattern& pattern, const Opcode& opcode,
                                     const Function& function, std::span<const Operand> operands) {
  return Laying(pattern, opcode, function, operands).lay();
}

}  // namespace lw::ptx
