#include "forms/operand_writer.h"

#include <fmt/format.h>

#include "ptx/forms/match.h"
#include "ptx/forms/operands.h"

namespace lw::ptx {
namespace {

struct Bank {
  std::string_view prefix;
  int count;
};

// The registers that hold a type.
Bank bank_of(Type type, Width width) {
  if (type == Type::pred) return {"%p", 8};
  if (type == Type::f32 && width != Width::twice) return {"%f", 160};
  if (type == Type::f64) return {"%fd", 160};
  int bits = bits_of(type) * (width == Width::twice ? 2 : 1);
  const bool packed = kind_of(type) == TypeKind::packed;
  if (width == Width::at_least && bits < 16 && !packed) bits = 16;
  if (bits == 8) return {"%c", 16};
  if (bits == 16) return {"%h", 160};
  if (bits == 64) return {"%rd", 160};
  if (bits == 128) return {"%q", 8};
  return {"%r", 160};
}

bool is_fragment(Length length) {
  return length >= Length::fragment_mn && length <= Length::fragment;
}

// Lengths that the notation leaves open, from what the manual says about them.
int open_length(const OperandSpec& spec, const Opcode& opcode) {
  if (spec.name == "disable") return opcode.has(Mod::cta_group_2) ? 8 : 4;
  return 1;
}

// Registers of a wmma fragment; the others follow from the shape.
int wmma_length(Type type, const Opcode& opcode) {
  const bool accumulator = opcode.has(Mod::c) || opcode.has(Mod::d) || opcode.has(Mod::mma);
  const bool is_b = opcode.has(Mod::b);
  const bool wide = opcode.has(Mod::m8n32k16);
  const bool tall = opcode.has(Mod::m32n8k16);
  switch (type) {
    case Type::f16:
      return accumulator ? 4 : 8;
    case Type::f32:
      return 8;
    case Type::s32:
      return opcode.has(Mod::m8n8k32) || opcode.has(Mod::m8n8k128) ? 2 : 8;
    case Type::f64:
      return accumulator ? 2 : 1;
    case Type::tf32:
      return 4;
    case Type::bf16:
      return wide ? (is_b ? 8 : 2) : tall ? (is_b ? 2 : 8) : 4;
    case Type::u8:
    case Type::s8:
      return wide ? (is_b ? 4 : 1) : tall ? (is_b ? 1 : 4) : 2;
    default:
      return 1;
  }
}

}  // namespace

std::string OperandWriter::write() {
  std::string text;
  for (const OperandSpec& spec : pattern_.operands) {
    if (!is_there(spec)) continue;
    if (!text.empty()) text += ", ";
    text += operand(spec);
  }
  return text;
}

bool OperandWriter::is_there(const OperandSpec& spec) const {
  if (spec.needs_element != kNowhere) {
    return has_element(pattern_, opcode_, spec.needs_element);
  }
  const bool optional = spec.group != kNowhere;
  const bool needed = spec.sink && pattern_.base == "mbarrier";
  return !optional || needed || (full_ && makes_sense(spec));
}

// Textures: offsets are not for cubes, depths only where coordinates are floats.
bool OperandWriter::makes_sense(const OperandSpec& spec) const {
  if (pattern_.base == "call" || spec.least_target > sm_) return false;
  if (pattern_.base != "tex" && pattern_.base != "tld4") return true;
  const bool cube = opcode_.has(Mod::cube) || opcode_.has(Mod::acube);
  const bool floats = opcode_.types.back() == Type::f32;
  if (spec.name == "e") return !cube;
  return spec.name != "f" || (floats && !opcode_.has(Mod::_3d));
}

std::string OperandWriter::operand(const OperandSpec& spec) {
  switch (spec.shape) {
    case Shape::address:
      return address(spec);
    case Shape::label:
      return "done";
    case Shape::list:
      return "targets";
    case Shape::function:
      return "callee";
    case Shape::arguments:
      return "()";
    case Shape::value:
      break;
  }
  if (!spec.pair || (spec.pair_optional && !full_)) return value(spec);
  const std::string first = value(spec);
  return first + "|" + value(pattern_.parts[spec.first_part]);
}

std::string OperandWriter::value(const OperandSpec& spec) {
  const Type type = type_of_operand(spec, pattern_, opcode_);
  const auto length = expected_length(spec, pattern_, opcode_);
  const bool remote = opcode_.has(Mod::shared_cluster) && pattern_.base == "mbarrier";
  if (spec.sink && remote && spec.name == "d") return "_";
  if (spec.length == Length::parts) return parts(type);
  if (!length) {
    const bool fragment = spec.length == Length::fragment;
    return vector(spec, type, fragment ? wmma_length(type, opcode_) : open_length(spec, opcode_));
  }
  const bool braces = spec.length == Length::by_count || *length > 1 ||
                      (spec.length != Length::scalar && spec.length != Length::by_list);
  if (braces) return vector(spec, type, *length);
  return scalar(spec, type, next_register_++);
}

std::string OperandWriter::vector(const OperandSpec& spec, Type type, int length) {
  std::string text;
  text += '{';
  for (int i = 0; i < length; ++i) {
    if (i != 0) text += ", ";
    text += scalar(spec, type, next_register_++);
  }
  text += '}';
  return text;
}

std::string OperandWriter::scalar(const OperandSpec& spec, Type type, int index) {
  if (!spec.registers) return immediate(spec, type);
  if (spec.opaque) return std::string(handle());
  if (is_fragment(spec.length) && bits_of(type) < 32) type = Type::b32;
  const Bank bank = bank_of(type, spec.width);
  return fmt::format("{}{}", bank.prefix, index % bank.count);
}

std::string OperandWriter::parts(Type type) {
  const Bank half = bank_of(type == Type::b128  ? Type::b64
                            : type == Type::b64 ? Type::b32
                            : type == Type::b32 ? Type::b16
                                                : Type::b8,
                            Width::exact);
  return fmt::format("{{{}0, {}1}}", half.prefix, half.prefix);
}

std::string OperandWriter::immediate(const OperandSpec& spec, Type type) const {
  if (type == Type::f32) return "0.5";
  if (spec.value_count != 0) return fmt::format("{}", spec.values[spec.value_count - 1]);
  if (spec.ranged) return fmt::format("{}", spec.least + (spec.least == 0 ? 0 : spec.step));
  return fmt::format("{}", spec.step);
}

std::string OperandWriter::address(const OperandSpec& spec) {
  std::string text;
  text += '[';
  text += spec.opaque ? std::string(handle()) : address_base(spec);
  for (int i = 0; i < spec.part_count; ++i) {
    const OperandSpec& part = pattern_.parts[spec.first_part + i];
    const bool wanted = part.needs_element == kNowhere ? !part.optional_part : is_there(part);
    if (wanted) text += ", " + value(part);
  }
  text += ']';
  return text;
}

std::string_view OperandWriter::handle() const {
  if (pattern_.base == "istypep") return "%rd0";
  return pattern_.base.starts_with("su") ? "surface" : "texture";
}

// Copies name two spaces in the order of their operands; barriers stand in shared memory.
std::string OperandWriter::address_base(const OperandSpec& spec) const {
  const bool tensor_memory =
      opcode_.text.starts_with("tcgen05") && spec.name != "mbar" && spec.name != "dst";
  const bool bulk_store = opcode_.text.starts_with("st.bulk");
  if (tensor_memory || bulk_store || spec.name == "handle") return "%r0";
  if (spec.name == "map") return "%rd0";
  const bool is_source = spec.name == "src";
  const bool is_barrier = spec.name == "mbar";
  std::string_view found;
  for (Mod mod : opcode_.mods) {
    const std::string_view name = name_of(mod);
    const bool shared = name.starts_with("shared");
    if (shared || (!is_barrier && (name == "global" || name == "const" || name == "local" ||
                                   name.starts_with("param")))) {
      found = name;
      if (!is_source) break;
    }
  }
  if (found.starts_with("shared")) return "storage";
  if (found == "const") return "constants";
  if (found == "local") return "depot";
  if (found.starts_with("param")) return opcode_.text.starts_with("st") ? "argument" : "input";
  if (found.empty() && is_barrier) return "%rd0";
  return "%rd0";
}

std::string_view module_head() {
  return ".global .texref texture;\n"
         ".global .surfref surface;\n"
         ".const .align 16 .b8 constants[1024];\n"
         ".func callee ()\n{\n\tret;\n}\n";
}

std::string_view register_file() {
  return "\t.reg .pred %p<8>;\n"
         "\t.reg .b8 %c<16>;\n"
         "\t.reg .b16 %h<160>;\n"
         "\t.reg .b32 %r<160>;\n"
         "\t.reg .b64 %rd<160>;\n"
         "\t.reg .b128 %q<8>;\n"
         "\t.reg .f32 %f<160>;\n"
         "\t.reg .f64 %fd<160>;\n"
         "\t.shared .align 128 .b8 storage[1024];\n"
         "\t.local .align 16 .b8 depot[256];\n";
}

}  // namespace lw::ptx
