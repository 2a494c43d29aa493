// PTX: Data Movement and Conversion Instructions: ld, st in all widths, vectors and spaces.

#include "machine/semantics/data_movement/ld_st.h"

#include <bit>

#include "base/check.h"
#include "machine/cta.h"
#include "machine/dispatch.h"
#include "machine/machine.h"
#include "machine/semantics/emit.h"
#include "machine/semantics/integer_arithmetic/hot.h"
#include "machine/semantics/lanes.h"
#include "machine/semantics/types.h"

namespace lw::machine {
namespace {

using order::Strength;
using program::Address;
using ptx::Mod;
using ptx::Space;
using ptx::Type;

}  // namespace

AccessSpace access_space(const Decoder& decoder, const Address& address) {
  if (address.constant && address.window == Space::local) return AccessSpace::local;
  if (decoder.has(Mod::param) || decoder.has(Mod::param_entry) || decoder.has(Mod::param_func))
    return !address.constant && decoder.in_function() ? AccessSpace::local : AccessSpace::param;
  if (decoder.has(Mod::global)) return AccessSpace::global;
  if (decoder.has(Mod::shared) || decoder.has(Mod::shared_cta)) return AccessSpace::shared;
  if (decoder.has(Mod::shared_cluster)) return AccessSpace::shared_cluster;
  if (decoder.has(Mod::local)) return AccessSpace::local;
  if (decoder.has(Mod::_const)) return AccessSpace::constant;
  return AccessSpace::generic;
}

order::Scope access_scope(const Decoder& decoder, order::Scope otherwise) {
  if (decoder.has(Mod::cta)) return order::Scope::kCta;
  if (decoder.has(Mod::cluster)) return order::Scope::kCluster;
  if (decoder.has(Mod::gpu)) return order::Scope::kGpu;
  return decoder.has(Mod::sys) ? order::Scope::kSys : otherwise;
}

uint8_t access_vector_log2(const Decoder& decoder) {
  if (decoder.has(Mod::v2)) return 1;
  if (decoder.has(Mod::v4)) return 2;
  return decoder.has(Mod::v8) ? 3 : 0;
}

namespace {

Strength strength_of(const Decoder& decoder) {
  if (decoder.has(Mod::acquire)) return Strength::kAcquire;
  if (decoder.has(Mod::release)) return Strength::kRelease;
  bool strong = decoder.has(Mod::relaxed) || decoder.has(Mod::_volatile) || decoder.has(Mod::mmio);
  return strong ? Strength::kRelaxed : Strength::kWeak;
}

AccessShape shape_of(const Decoder& decoder, const Address& address) {
  AccessShape shape;
  shape.space = access_space(decoder, address);
  shape.wide_address = address.wide;
  shape.element_log2 = static_cast<uint8_t>(
      std::countr_zero(static_cast<uint32_t>(ptx::bits_of(decoder.type())) / 8));
  shape.vector_log2 = access_vector_log2(decoder);
  shape.sign_extend = is_signed(decoder.type());
  shape.strength = strength_of(decoder);
  shape.scope = access_scope(decoder, order::Scope::kSys);
  return shape;
}

// Width of the registers that hold the elements: they may be wider than what is accessed.
int register_bits(const Decoder& decoder, const ptx::Operand& operand) {
  const ptx::Operand* element = &operand;
  if (operand.kind == ptx::OperandKind::vector) {
    for (const ptx::Operand& candidate : decoder.elements(operand))
      if (decoder.declared(candidate) != Type::none) element = &candidate;
  }
  Type declared = decoder.declared(*element);
  return ptx::bits_of(declared == Type::none ? decoder.type() : declared);
}

// A load into 64-bit registers with `_` among its elements, or immediates stored: their slots must
// have the width of the others.
Type slot_type(const Decoder& decoder, int bits) {
  if (bits > 64) return Type::b128;
  return bits == 64 ? Type::b64 : ptx::bits_of(decoder.type()) <= 32 ? decoder.type() : Type::b64;
}

// A parameter or constant at an address that the instruction names: the same in all lanes, and
// inside its block, which the decoder has seen. `b`: where the block is; `immediate`: the offset.
enum class Block : uint32_t { parameters, constants };

const std::byte* block_bytes(const Op& op, const Warp& warp) {
  const std::byte* block = static_cast<Block>(op.b.offset) == Block::parameters
                               ? warp.cta->launch->request.parameters.data()
                               : warp.machine->constants().data();
  return block + op.immediate;
}

template <class T, Mode mode>
void run_load_named(const Op* op, std::byte* registers, Warp& warp) {
  const T* from = reinterpret_cast<const T*>(block_bytes(*op, warp));
  uint32_t count = op->extra == 0 ? 1 : op->extra;
  const Slot* slots = element_slots(*op, warp);
  for (uint32_t i = 0; i < count; ++i) {
    T value = from[i];
    once::write_lanes<mode, T>(once::lanes_at<T>(registers, slots[i]), warp.active,
                               [&](int) LW_LAMBDA_INLINE { return value; });
  }
  return next<mode>(op, registers, warp);
}
template <class T>
constexpr Handlers kLoadNamed{&run_load_named<T, Mode::full>, &run_load_named<T, Mode::masked>};

// Emits such a load if it is one.
bool emit_named_load(Decoder& decoder, const Address& address, const AccessShape& shape,
                     std::span<const Slot> slots) {
  bool is_block = shape.space == AccessSpace::param || shape.space == AccessSpace::constant;
  bool is_plain = address.constant && address.variable && shape.element_log2 >= 2 &&
                  shape.element_log2 <= 3 && !shape.sign_extend &&
                  shape.wide_register == (shape.element_log2 == 3) &&
                  address.offset % shape.bytes() == 0;
  if (!is_block || !is_plain) return false;
  const ptx::Variable& variable = decoder.module().variables[address.variable->value];
  const int64_t inside = decoder.operand(1).value;
  if (inside < 0 || static_cast<uint64_t>(inside) + shape.bytes() > variable.size_bytes())
    return false;
  Op& op =
      decoder.emit(shape.element_log2 == 3 ? kLoadNamed<uint64_t> : kLoadNamed<uint32_t>, slots[0]);
  Block block = shape.space == AccessSpace::param ? Block::parameters : Block::constants;
  op.b.offset = static_cast<uint32_t>(block);
  op.immediate = static_cast<uint64_t>(address.offset);
  if (slots.size() > 1) decoder.attach(op, slots);
  return true;
}

void emit_load(Decoder& decoder) {
  Address address = decoder.address(decoder.operand(1));
  AccessShape shape = shape_of(decoder, address);
  int bits = register_bits(decoder, decoder.operand(0));
  shape.wide_register = bits >= 64;
  if (shape.element_log2 == 2 && bits == 32) shape.sign_extend = false;
  if (shape.element_log2 == 3) shape.sign_extend = false;
  if (shape.element_log2 == 1 && bits == 16) shape.sign_extend = false;
  shape.poll = shape.strength != Strength::kWeak && decoder.is_poll();
  std::vector<Slot> slots = decoder.results(decoder.operand(0), slot_type(decoder, bits));
  if (emit_named_load(decoder, address, shape, slots)) return;
  Handlers handlers = hot_load(shape);
  if (handlers.full == nullptr) handlers = plain_handlers<general_load>;
  Op& op = decoder.emit(handlers, slots[0], address.base);
  op.immediate = address.displacement();
  op.detail = shape.encode();
  if (slots.size() > 1) decoder.attach(op, slots);
  if (shape.sign_extend && bits == 16)  // a 16-bit register has zeros above
    for (Slot slot : slots) decoder.emit(hot_integer(HotInteger::mov, Type::b16), slot, slot);
}

void emit_store(Decoder& decoder) {
  Address address = decoder.address(decoder.operand(0));
  AccessShape shape = shape_of(decoder, address);
  shape.sign_extend = false;
  int bits = register_bits(decoder, decoder.operand(1));
  shape.wide_register = bits >= 64;
  std::vector<Slot> slots = decoder.sources(decoder.operand(1), slot_type(decoder, bits));
  Handlers handlers = hot_store(shape);
  if (handlers.full == nullptr) handlers = plain_handlers<general_store>;
  Op& op = decoder.emit(handlers, slots[0], address.base);
  op.immediate = address.displacement();
  op.detail = shape.encode();
  if (slots.size() > 1) decoder.attach(op, slots);
}

}  // namespace

void bind_ld(Decoder& decoder) { emit_load(decoder); }
void bind_ld_volatile(Decoder& decoder) { emit_load(decoder); }
void bind_ld_volatile_local(Decoder& decoder) { emit_load(decoder); }
void bind_ld_relaxed(Decoder& decoder) { emit_load(decoder); }
void bind_ld_acquire(Decoder& decoder) { emit_load(decoder); }
void bind_ld_mmio(Decoder& decoder) { emit_load(decoder); }
void bind_ld_nc(Decoder& decoder) { emit_load(decoder); }
void bind_ldu(Decoder& decoder) { emit_load(decoder); }
void bind_st(Decoder& decoder) { emit_store(decoder); }
void bind_st_volatile(Decoder& decoder) { emit_store(decoder); }
void bind_st_volatile_local(Decoder& decoder) { emit_store(decoder); }
void bind_st_relaxed(Decoder& decoder) { emit_store(decoder); }
void bind_st_release(Decoder& decoder) { emit_store(decoder); }
void bind_st_mmio(Decoder& decoder) { emit_store(decoder); }

}  // namespace lw::machine
