#include "program/bind_context.h"

#include "program/immediate.h"
#include "program/layout.h"
#include "program/mentions.h"

namespace lw::program {
namespace {

using ptx::OperandKind;
using ptx::SpecialRegister;
using ptx::Type;

// Those whose value is the moment's, or the schedule's.
bool is_dynamic(SpecialRegister special) {
  switch (special) {
    case SpecialRegister::clock:
    case SpecialRegister::clock_hi:
    case SpecialRegister::clock64:
    case SpecialRegister::globaltimer:
    case SpecialRegister::globaltimer_lo:
    case SpecialRegister::globaltimer_hi:
    case SpecialRegister::smid:
    case SpecialRegister::warpid:
      return true;
    default:
      return special >= SpecialRegister::pm0 && special <= SpecialRegister::pm7_64;
  }
}

}  // namespace

BindContext::BindContext(const ptx::Module& module, const FlatCode& code, SlotMap& slots,
                         Environment& environment, Program& program)
    : module_(module), code_(code), slots_(slots), environment_(environment), program_(program) {}

const ptx::Function& BindContext::function() const {
  return module_.functions[code_.frames[flat_->frame].function.value];
}

Slot BindContext::guard() const {
  return slots_.of(code_.virtual_of(flat_->frame, flat_->source->guard));
}

std::span<const ptx::Operand> BindContext::operands() const {
  return function().operands_of(*flat_->source);
}

std::span<const ptx::Operand> BindContext::elements(const ptx::Operand& operand) const {
  return function().elements_of(operand);
}

Type BindContext::declared(const ptx::Operand& operand) const {
  bool is_register = operand.kind == OperandKind::reg || (operand.kind == OperandKind::address &&
                                                          operand.base == ptx::AddressBase::reg);
  return is_register ? function().registers[operand.id].type : Type::none;
}

void BindContext::count_names() {
  names_.resize(code_.registers.size());
  const Mentions mentions(module_, code_);
  for (uint32_t i = 0; i < code_.instructions.size(); ++i)
    mentions.visit(i, [&](uint32_t reg, bool) { ++names_[reg]; });
}

bool BindContext::is_named_elsewhere(const ptx::Operand& operand) {
  if (names_.empty()) count_names();
  bool named = false;
  for_each_register(function(), operand, [&](const ptx::Operand& element) {
    uint32_t first = code_.virtual_of(flat_->frame, element.reg());
    uint32_t parts = slots_of(function().registers[element.id]);
    for (uint32_t part = 0; part < parts; ++part) named = named || names_[first + part] > 1;
  });
  return named;
}

Slot BindContext::register_slot(const ptx::Operand& operand) const {
  uint32_t part = operand.component == 0 ? 0 : operand.component - 1;
  return slots_.of(code_.virtual_of(flat_->frame, operand.reg()) + part);
}

Slot BindContext::negated(Slot predicate) {
  Slot result = slots_.temporary(SlotClass::predicate);
  emit(environment_.core().negate, result, predicate);
  return result;
}

Slot BindContext::special(SpecialRegister special, Type type) {
  if (!is_dynamic(special)) return slots_.special(special, slot_class(type));
  Slot result = slots_.temporary(slot_class(type));
  Op& op = emit(environment_.core().read_special, result);
  op.immediate = static_cast<uint64_t>(special);
  op.detail = static_cast<uint16_t>(slot_class(type) == SlotClass::wide ? 8 : 4);
  return result;
}

Slot BindContext::source(const ptx::Operand& operand, Type type) {
  switch (operand.kind) {
    case OperandKind::reg: {
      Slot slot = register_slot(operand);
      return operand.negated ? negated(slot) : slot;
    }
    case OperandKind::special:
      return special(operand.special(), type);
    case OperandKind::symbol:
      return address_of(operand, ptx::bits_of(type) > 32 ? Type::u64 : Type::u32);
    case OperandKind::function:
      return constant(address_of_function(operand.function()), Type::u64);
    case OperandKind::immediate:
      return constant(immediate_bits(operand, type), type);
    default:
      return slots_.temporary(slot_class(type));
  }
}

Slot BindContext::result(const ptx::Operand& operand, Type type) {
  if (operand.kind == OperandKind::reg) return register_slot(operand);
  return slots_.temporary(slot_class(type));
}

Slot BindContext::constant(uint64_t bits, Type type) {
  SlotClass kind = slot_class(type);
  return slots_.constant(kind == SlotClass::word ? bits & 0xffffffffu : bits, kind);
}

Slot BindContext::constant_address(const Address& address, Type type) {
  const auto bits = static_cast<uint64_t>(address.offset);
  if (address.window != ptx::Space::shared) return constant(bits, type);
  return slots_.shared_address(bits, slot_class(type));
}

void BindContext::parts(const ptx::Operand& operand, Type type, bool result,
                        std::vector<Slot>& slots) {
  if (operand.kind == OperandKind::special && ptx::is_vector(operand.special())) {
    for (uint32_t i = 1; i <= 3; ++i)
      slots.push_back(special(
          static_cast<SpecialRegister>(static_cast<uint32_t>(operand.special()) + i), type));
    return slots.push_back(constant(0, type));
  }
  if (operand.kind == OperandKind::reg && operand.component == 0) {
    uint32_t first = code_.virtual_of(flat_->frame, operand.reg());
    uint32_t count = slots_of(function().registers[operand.id]);
    for (uint32_t i = 0; i < count; ++i) slots.push_back(slots_.of(first + i));
    return;
  }
  uint32_t halves = type == Type::b128 ? 2 : 1;
  for (uint32_t i = 0; i < halves; ++i)
    slots.push_back(result ? this->result(operand, type) : source(operand, type));
}

Address BindContext::variable_address(ptx::VariableId id, int64_t offset) {
  const ptx::Variable& variable = module_.variables[id.value];
  Address address;
  address.wide = address.constant = true;
  address.offset = offset;
  address.window = variable.space;
  address.variable = id;
  switch (variable.space) {
    case ptx::Space::shared:
      address.offset += static_cast<int64_t>(find_place(program_.shared, id)->offset);
      break;
    case ptx::Space::global:
    case ptx::Space::constant:
      address.offset += static_cast<int64_t>(environment_.address(id));
      break;
    default: {
      const auto& local = code_.frames[flat_->frame].local;
      auto area = local.find(id.value);
      if (area != local.end()) {
        const Frame& frame = code_.frames[flat_->frame];
        address.window = ptx::Space::local;
        address.offset += static_cast<int64_t>(area->second);
        address.wide = address.constant = !frame.procedure;
        if (frame.procedure) address.base = base_of(frame);
      } else {
        address.offset += parameter_offset(id);
      }
    }
  }
  return address;
}

int64_t BindContext::parameter_offset(ptx::VariableId id) const {
  const auto& params = module_.functions[program_.kernel.value].params;
  for (size_t i = 0; i < params.size(); ++i)
    if (params[i] == id) return program_.parameters[i].offset;
  return 0;
}

Address BindContext::address(const ptx::Operand& operand) {
  if (operand.kind == OperandKind::tensor) return address(elements(operand)[0]);
  Address address;
  if (operand.base == ptx::AddressBase::reg) {
    address.base = slots_.of(code_.virtual_of(flat_->frame, operand.reg()));
    address.wide = is_wide(operand);
    address.offset = operand.value;
    return address;
  }
  if (operand.base == ptx::AddressBase::variable) {
    address = variable_address(operand.variable(), operand.value);
  } else {
    address.wide = address.constant = true;
    address.offset = operand.value;
  }
  if (address.constant) address.base = constant_address(address, Type::u64);
  return address;
}

Slot BindContext::base_of(const Frame& frame) {
  return frame.procedure ? slots_.frame_pointer() : constant(0, Type::u32);
}

Slot BindContext::address_of(const ptx::Operand& symbol, Type type) {
  const Address address = variable_address(symbol.variable(), symbol.value);
  if (address.constant) return constant_address(address, type);
  const Slot result = slots_.temporary(slot_class(type));
  Op& op = emit(environment_.core().add_base, result, address.base);
  op.immediate = address.displacement();
  op.detail = static_cast<uint16_t>(slot_class(type));
  return result;
}

Op& BindContext::emit(Handlers handlers) {
  Op& op = program_.ops.emplace_back();
  op.full = handlers.full;
  op.masked = handlers.masked;
  op.instruction = id();
  saw_control |= handlers.control;
  return op;
}

void BindContext::attach(Op& op, std::span<const Slot> slots) {
  op.more = static_cast<uint32_t>(program_.slots.size());
  op.extra = static_cast<uint16_t>(slots.size());
  program_.slots.insert(program_.slots.end(), slots.begin(), slots.end());
}

uint32_t BindContext::add_text(std::string text) {
  program_.texts.push_back(std::move(text));
  return static_cast<uint32_t>(program_.texts.size() - 1);
}

void BindContext::keep(std::shared_ptr<const void> object) {
  program_.kept.push_back(std::move(object));
}

void BindContext::not_modelled(std::string reason) {
  uint32_t text = add_text(std::move(reason));
  emit(environment_.core().refuse).immediate = text;
}

}  // namespace lw::program
