#include "ptx/print/operands.h"

#include <fmt/format.h>

#include <bit>
#include <iterator>

namespace lw::ptx {
namespace {

// The shortest decimal that reads back as the same double, with a point or an exponent.
std::string decimal(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

void OperandPrinter::instruction(const Instruction& instruction) {
  if (instruction.guarded) {
    out_ += instruction.guard_negated ? "@!" : "@";
    out_ += function_.registers[instruction.guard.value].name;
    out_ += ' ';
  }
  out_ += module_.opcode_of(instruction).text;
  const char* between = " ";
  for (const Operand& each : function_.operands_of(instruction)) {
    out_ += between;
    operand(each);
    between = ", ";
  }
}

void OperandPrinter::operand(const Operand& operand) {
  if (operand.negated) {
    const bool predicate = function_.registers[operand.id].type == Type::pred;
    out_ += predicate ? '!' : '-';
  }
  switch (operand.kind) {
    case OperandKind::reg:
      out_ += function_.registers[operand.id].name;
      component(operand);
      break;
    case OperandKind::special:
      out_ += name_of(operand.special());
      break;
    case OperandKind::immediate:
      immediate(operand);
      break;
    case OperandKind::symbol:
      out_ += module_.variables[operand.id].name;
      offset(operand.value);
      break;
    case OperandKind::function:
      out_ += module_.functions[operand.id].name;
      break;
    case OperandKind::label:
      out_ += function_.labels[operand.id].name;
      break;
    case OperandKind::list:
      out_ += function_.targets[operand.id].name;
      break;
    case OperandKind::address:
      address(operand, true);
      break;
    case OperandKind::tensor:
      list(function_.elements_of(operand), '[', ']');
      break;
    case OperandKind::vector:
      list(function_.elements_of(operand), '{', '}');
      break;
    case OperandKind::arguments:
      list(function_.elements_of(operand), '(', ')');
      break;
    case OperandKind::pair: {
      const auto halves = function_.elements_of(operand);
      this->operand(halves[0]);
      out_ += '|';
      this->operand(halves[1]);
      break;
    }
    case OperandKind::sink:
      out_ += '_';
      break;
  }
}

// The first element of a tensor address is an address without brackets of its own.
void OperandPrinter::list(std::span<const Operand> operands, char open, char close) {
  out_ += open;
  const char* between = "";
  for (const Operand& each : operands) {
    out_ += between;
    if (each.kind == OperandKind::address) {
      address(each, false);
    } else {
      operand(each);
    }
    between = ", ";
  }
  out_ += close;
}

void OperandPrinter::address(const Operand& operand, bool brackets) {
  if (brackets) out_ += '[';
  switch (operand.base) {
    case AddressBase::reg:
      out_ += function_.registers[operand.id].name;
      break;
    case AddressBase::variable:
      out_ += module_.variables[operand.id].name;
      break;
    case AddressBase::none:
      fmt::format_to(std::back_inserter(out_), "{}", operand.value);
      break;
  }
  if (operand.base != AddressBase::none) offset(operand.value);
  if (brackets) out_ += ']';
  if (brackets && operand.component == 1) out_ += ".unified";
}

void OperandPrinter::immediate(const Operand& operand) {
  const auto out = std::back_inserter(out_);
  switch (operand.literal) {
    case Literal::unsigned_integer:
      fmt::format_to(out, "{}U", static_cast<uint64_t>(operand.value));
      break;
    case Literal::f32_bits:
      fmt::format_to(out, "0f{:08X}", static_cast<uint32_t>(operand.value));
      break;
    case Literal::f64_bits:
      fmt::format_to(out, "0d{:016X}", static_cast<uint64_t>(operand.value));
      break;
    case Literal::decimal:
      out_ += decimal(std::bit_cast<double>(operand.value));
      break;
    default:
      fmt::format_to(out, "{}", operand.value);
      break;
  }
}

void OperandPrinter::component(const Operand& operand) {
  if (operand.component == 0) return;
  if (operand.component != kSelector) {
    out_ += '.';
    out_ += "xyzw"[operand.component - 1];
    return;
  }
  const auto bits = static_cast<uint32_t>(operand.value);
  const uint32_t digits = bits >> 16 & 0xff;
  out_ += (bits >> 24 & 1) != 0 ? ".h" : ".b";
  for (uint32_t i = digits; i-- > 0;) out_ += static_cast<char>('0' + (bits >> (4 * i) & 0xf));
}

void OperandPrinter::offset(int64_t value) {
  if (value == 0) return;
  fmt::format_to(std::back_inserter(out_), "+{}", value);  // ptxas wants `+-8`
}

}  // namespace lw::ptx
