#include "ptx/verify/instruction.h"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/printer.h"
#include "ptx/verify/calls.h"
#include "ptx/verify/spaces.h"
#include "ptx/verify/values.h"

namespace lw::ptx {
namespace {

// How many operands a pattern takes at least and at most.
std::pair<size_t, size_t> operand_counts(const Pattern& pattern) {
  const auto required =
      std::count_if(pattern.operands.begin(), pattern.operands.end(),
                    [](const OperandSpec& spec) { return spec.group == kNowhere; });
  return {static_cast<size_t>(required), pattern.operands.size()};
}

std::string describe(Type type, Width width) {
  const int bits = bits_of(type);
  switch (width) {
    case Width::twice:
      return fmt::format("a register of {} bits", 2 * bits);
    case Width::at_least:
      return fmt::format("a register for `.{}`, or a wider one", name_of(type));
    case Width::exact:
      break;
  }
  if (kind_of(type) == TypeKind::bits) return fmt::format("a register of {} bits", bits);
  if (type == Type::pred) return "a predicate register";
  return fmt::format("a register for `.{}`", name_of(type));
}

}  // namespace

void InstructionVerifier::check(const Instruction& instruction) {
  instruction_ = &instruction;
  opcode_ = &module_.opcode_of(instruction);
  pattern_ = &pattern_of(opcode_->form);
  check_guard();
  const auto operands = function_.operands_of(instruction);
  const auto binding = bind_operands(*pattern_, *opcode_, function_, operands);
  if (!binding) return explain_misfit();
  check_operands(*binding);
  if (opcode_->form == FormId::call) check_call(module_, function_, instruction, report_);
  if (opcode_->form == FormId::cp_async) check_copy_size();
}

void InstructionVerifier::check_guard() {
  if (!instruction_->guarded) return;
  const Register& guard = function_.registers[instruction_->guard.value];
  if (guard.type == Type::pred || complained_of(guard)) return;
  report_.at(
      function_, *instruction_,
      fmt::format("guard `{}` is declared `.{}`, not `.pred`", guard.name, name_of(guard.type)),
      "guard by a predicate that `setp` has set");
}

void InstructionVerifier::check_operands(const Binding& binding) {
  const auto operands = function_.operands_of(*instruction_);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (target_ && target_->number < binding[i]->least_target) {
      complain(operands[i], i + 1,
               fmt::format("is not supported on `.target {}`", module_.target[0]),
               fmt::format("it needs `sm_{}`", binding[i]->least_target));
    }
    check_operand(*binding[i], operands[i], i + 1);
  }
}

// The first operand that does not fit, if their number is right.
void InstructionVerifier::explain_misfit() {
  const auto operands = function_.operands_of(*instruction_);
  const std::string hint = fmt::format("the form is `{}`", syntax_of(opcode_->form));
  const auto [least, most] = operand_counts(*pattern_);
  if (operands.size() < least || operands.size() > most) {
    const std::string takes =
        least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
    report_.at(function_, *instruction_,
               fmt::format("`{}` takes {} operand{}, not {}", opcode_->text, takes,
                           takes == "1" ? "" : "s", operands.size()),
               hint);
    return;
  }
  for (size_t i = 0; least == most && i < operands.size(); ++i) {
    const OperandSpec& spec = pattern_->operands[i];
    if (shape_fits(spec, *pattern_, *opcode_, function_, operands[i])) continue;
    const auto length = expected_length(spec, *pattern_, *opcode_);
    const bool vector =
        length && (*length > 1 || (*length == 1 && spec.length == Length::by_count));
    const Type type = type_of_operand(spec, *pattern_, *opcode_);
    std::string wanted = spec.shape == Shape::address       ? "an address in brackets"
                         : !spec.registers                  ? "an immediate"
                         : vector                           ? fmt::format("a vector of {}", *length)
                         : spec.pair && !spec.pair_optional ? "a pair `a|b`"
                         : type == Type::pred               ? "a predicate"
                                                            : describe(type, spec.width);
    return complain(operands[i], i + 1, fmt::format("is not {}", wanted), hint);
  }
  report_.at(function_, *instruction_,
             fmt::format("`{}` does not take these operands", opcode_->text), hint);
}

void InstructionVerifier::check_operand(const OperandSpec& spec, const Operand& operand,
                                        size_t number) {
  switch (operand.kind) {
    case OperandKind::address:
      check_address(operand, number);
      break;
    case OperandKind::tensor: {
      const auto elements = function_.elements_of(operand);
      const auto parts = lay_parts(spec, *pattern_, *opcode_, function_, operand);
      if (!spec.opaque) check_address(elements[0], number);
      for (size_t i = 1; parts && i < elements.size(); ++i) {
        check_value(*(*parts)[i - 1], elements[i], number);
      }
      break;
    }
    case OperandKind::pair: {
      const auto halves = function_.elements_of(operand);
      check_value(spec, halves[0], number);
      check_value(pattern_->parts[spec.first_part], halves[1], number);
      break;
    }
    default:
      check_value(spec, operand, number);
      break;
  }
}

void InstructionVerifier::check_value(const OperandSpec& spec, const Operand& operand,
                                      size_t number) {
  if (spec.shape != Shape::value) return;
  const Type type = type_of_operand(spec, *pattern_, *opcode_);
  if (operand.kind != OperandKind::vector) return check_scalar(spec, type, operand, number);
  if (spec.length == Length::parts) return check_parts(spec, operand, number);
  for (const Operand& element : function_.elements_of(operand)) {
    check_scalar(spec, type, element, number);
  }
}

void InstructionVerifier::check_scalar(const OperandSpec& spec, Type type, const Operand& operand,
                                       size_t number) {
  if (operand.negated && spec.written) {
    return complain(operand, number, "is written, and cannot be negated", "negate what is read");
  }
  switch (operand.kind) {
    case OperandKind::reg:
      check_register(spec, type, operand, number);
      break;
    case OperandKind::immediate:
      check_immediate(spec, type, operand, number);
      break;
    case OperandKind::special:
      check_special(type, operand, number);
      break;
    case OperandKind::symbol:
      if (!spec.opaque) check_symbol(type, operand, number);
      break;
    case OperandKind::function:
      if (bits_of(type) != 64) complain(operand, number, "is an address of 64 bits");
      break;
    default:
      break;
  }
}

void InstructionVerifier::check_register(const OperandSpec& spec, Type type, const Operand& operand,
                                         size_t number) {
  const Register& reg = function_.registers[operand.id];
  if (type == Type::none) return;
  // Who arrives at a barrier of another CTA gets no state of it.
  if (spec.written && spec.sink && opcode_->has(Mod::shared_cluster)) {
    return complain(operand, number, "is no result of a barrier of another CTA", "write `_`");
  }
  if (spec.or_predicate && reg.type == Type::pred) return;
  // Fragments of matrices stand in registers of 32 bits, whatever their elements are.
  const bool fragment = spec.length >= Length::fragment_mn && spec.length <= Length::fragment;
  const Type wanted = fragment && bits_of(type) < 32 ? Type::b32 : type;
  if (register_fits(reg.type, wanted, spec.width)) return;
  complain_once(reg, operand, number, fmt::format("is declared `.{}`", name_of(reg.type)),
                fmt::format("`{}` takes {} here", opcode_->text, describe(wanted, spec.width)));
}

void InstructionVerifier::check_immediate(const OperandSpec& spec, Type type,
                                          const Operand& operand, size_t number) {
  const Type wanted = spec.registers || type != Type::none ? type : Type::b32;
  if (!immediate_fits(operand.literal, wanted)) {
    const bool half = kind_of(wanted) == TypeKind::packed || bits_of(wanted) < 32;
    const bool floating = kind_of(wanted) == TypeKind::floating;
    return complain(operand, number, fmt::format("is no immediate of `.{}`", name_of(wanted)),
                    floating && !half ? "write `0f` and 8 hexadecimal digits, or a decimal point"
                    : half            ? "put it into a register first"
                                      : "write an integer");
  }
  const std::span<const int64_t> values(spec.values.data(), static_cast<size_t>(spec.value_count));
  const bool listed =
      values.empty() || std::find(values.begin(), values.end(), operand.value) != values.end();
  if (!listed) {
    complain(operand, number, fmt::format("is not {}", fmt::join(values, " or ")));
  } else if (spec.ranged && (operand.value < spec.least || operand.value > spec.most)) {
    complain(operand, number, fmt::format("is out of range {}..{}", spec.least, spec.most));
  } else if (operand.value % spec.step != 0) {
    complain(operand, number, fmt::format("is not a multiple of {}", spec.step));
  }
}

void InstructionVerifier::check_special(Type type, const Operand& operand, size_t number) {
  const Type own = type_of(operand.special());
  const bool moves = pattern_->base == "mov" || pattern_->base == "cvt";
  if (!moves) {
    return complain(operand, number, "is a special register", "`mov` it to a register first");
  }
  if (target_ && target_->number < target_of(operand.special())) {
    return complain(operand, number, fmt::format("is not there on `.target {}`", module_.target[0]),
                    fmt::format("it needs `sm_{}`", target_of(operand.special())));
  }
  if (is_vector(operand.special()) && !opcode_->has(Mod::v4)) {
    return complain(operand, number, "is a vector of four",
                    fmt::format("write `{}.x`", name_of(operand.special())));
  }
  const bool narrow = bits_of(type) == 16 && bits_of(own) == 32;
  if (!narrow && !register_fits(own, type, Width::exact)) {
    complain(operand, number, fmt::format("is `.{}`", name_of(own)));
  }
}

void InstructionVerifier::check_symbol(Type type, const Operand& operand, size_t number) {
  const Variable& variable = module_.variables[operand.id];
  const bool wide = variable.space == Space::global;
  const int bits = bits_of(type);
  if (kind_of(type) == TypeKind::floating || bits < 32 || (wide && bits < 64)) {
    complain(operand, number,
             fmt::format("is an address of {} bits, which `.{}` does not hold", wide ? 64 : 32,
                         name_of(type)));
  }
}

// `{a, b}` of a mov: elements of one width that fill the other side.
void InstructionVerifier::check_parts(const OperandSpec& spec, const Operand& operand,
                                      size_t number) {
  const int bits = bits_of(type_of_operand(spec, *pattern_, *opcode_));
  const int share = bits / static_cast<int>(operand.count);
  const bool even =
      operand.count <= 4 && operand.count != 3 && share * static_cast<int>(operand.count) == bits;
  if (!even) {
    return complain(operand, number, fmt::format("does not fill {} bits with equal parts", bits));
  }
  for (const Operand& element : function_.elements_of(operand)) {
    if (element.kind != OperandKind::reg) continue;
    const Register& reg = function_.registers[element.id];
    if (bits_of(reg.type) == share) continue;
    complain_once(
        reg, element, number,
        fmt::format("is declared `.{}`, and a part has {} bits", name_of(reg.type), share),
        fmt::format("give parts of {} bits, or another type to the `mov`", share));
  }
}

// `.cg` copies 16 bytes, and the part that is not filled with zeros is not larger than the whole.
void InstructionVerifier::check_copy_size() {
  const auto operands = function_.operands_of(*instruction_);
  const int64_t size = operands[2].value;
  if (opcode_->has(Mod::cg) && size != 16) {
    complain(operands[2], 3, "is not 16", "copy 4 or 8 bytes by `cp.async.ca`");
  }
  const bool has_part = operands.size() > 3 && operands[3].kind == OperandKind::immediate;
  if (has_part && (operands[3].value < 0 || operands[3].value > size)) {
    complain(operands[3], 4, fmt::format("is out of range 0..{}", size));
  }
}

// Addresses --------------------------------------------------------------------------------------

void InstructionVerifier::check_address(const Operand& operand, size_t number) {
  switch (operand.base) {
    case AddressBase::reg:
      check_base_register(operand, number);
      break;
    case AddressBase::variable:
      check_base_variable(operand, number);
      break;
    case AddressBase::none:
      if (!opcode_->has(Mod::local)) {
        complain(operand, number, "is an immediate address", "only `.local` takes one");
      }
      break;
  }
}

void InstructionVerifier::check_base_register(const Operand& operand, size_t number) {
  const Register& reg = function_.registers[operand.id];
  const TypeKind kind = kind_of(reg.type);
  const bool integer =
      kind == TypeKind::bits || kind == TypeKind::unsigned_int || kind == TypeKind::signed_int;
  if (!integer) {
    return complain_once(
        reg, operand, number,
        fmt::format("is declared `.{}`, and an address is an integer", name_of(reg.type)),
        "declare it `.b64`, or `.b32` for shared memory");
  }
  const std::optional<Space> space = only_space(*opcode_);
  const bool generic = !names_space(*opcode_) && !takes_narrow_addresses(*opcode_);
  const bool wide = generic || space == Space::global;
  if (wide && module_.address_size == 64 && bits_of(reg.type) == 32) {
    complain_once(reg, operand, number, "has 32 bits, and a global or generic address has 64",
                  generic ? fmt::format("name the state space, as in `{}.shared`", pattern_->base)
                          : "use a register of 64 bits");
  }
}

void InstructionVerifier::check_base_variable(const Operand& operand, size_t number) {
  const Variable& variable = module_.variables[operand.id];
  const std::optional<Space> space = only_space(*opcode_);
  const bool reads_texture = row_of(opcode_->form).effect == Effect::texture;
  if (space && !reads_texture && variable.space != *space) {
    return complain(operand, number,
                    fmt::format("is in `.{}`, and the instruction accesses `.{}`",
                                word_for(variable.space), word_for(*space)));
  }
  const bool stores = row_of(opcode_->form).effect == Effect::store;
  const bool is_input = std::any_of(function_.params.begin(), function_.params.end(),
                                    [&](VariableId id) { return id.value == operand.id; });
  if (stores && space == Space::param && is_input) {
    complain(operand, number, "is an input parameter, and those are only read");
  }
  if (stores && space == Space::constant) {
    complain(operand, number, "is in `.const`, which is only read");
  }
}

void InstructionVerifier::complain_once(const Register& reg, const Operand& operand, size_t number,
                                        std::string message, std::string hint) {
  if (!complained_of(reg)) complain(operand, number, std::move(message), std::move(hint));
}

bool InstructionVerifier::complained_of(const Register& reg) {
  std::string prefix = reg.name;
  prefix.resize(prefix.find_last_not_of("0123456789") + 1);
  return !complained_.emplace(std::move(prefix), reg.type).second;
}

void InstructionVerifier::complain(const Operand& operand, size_t number, std::string message,
                                   std::string hint) {
  report_.at(
      function_, *instruction_,
      fmt::format("operand {}, `{}`, {}", number, print(module_, function_, operand), message),
      std::move(hint));
}

}  // namespace lw::ptx
