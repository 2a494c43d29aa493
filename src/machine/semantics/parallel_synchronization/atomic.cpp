// PTX: Parallel Synchronization and Communication Instructions: atom, red.
//
// The lanes of a warp go one after another, in order of their numbers; a real GPU promises no order
// among them. The arithmetic is that of the bulk reductions (bulk_reduce.h). Sums of f32 in global
// memory flush subnormals unless `.noftz` is given, those in shared memory keep them [H200: this
// and the NaNs of f64].
//
// Op: a the address, `immediate` its displacement, `detail` the shape of data_movement/access.h, so
// that `locate` finds the bytes; at `more` the slots of the results (atom), then of the operands,
// then, for cas, of the new values.

#include <algorithm>
#include <array>
#include <cstring>

#include "arith/float64.h"
#include "machine/bulk_reduce.h"
#include "machine/cta.h"
#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/data_movement/access.h"

namespace lw::machine {
namespace {

using ptx::Mod;
using ptx::Type;

constexpr uint32_t kMostBytes = 32;
using Bytes = std::array<std::byte, kMostBytes>;

// --- what happens to the bytes ---

struct Place {
  std::byte* memory;
  uint32_t bytes;
  bool shared;
};

void exchange(const Place& place, const Bytes& operand, const Bytes&) {
  std::memcpy(place.memory, operand.data(), place.bytes);
}

void compare_and_swap(const Place& place, const Bytes& expected, const Bytes& replacement) {
  if (std::memcmp(place.memory, expected.data(), place.bytes) == 0)
    std::memcpy(place.memory, replacement.data(), place.bytes);
}

// f32_ftz: flushes in global memory.
template <ReduceOp op, ReduceType type>
void reduce(const Place& place, const Bytes& operand, const Bytes&) {
  const bool keeps = type == ReduceType::f32_ftz && place.shared;
  const ReduceType kind = keeps ? ReduceType::f32 : type;
  reduce_elements(place.memory, operand.data(), place.bytes, op, kind);
}

// Of two NaNs the operand's stays; global memory takes a NaN as it is, shared memory quiets it.
void add_f64(const Place& place, const Bytes& bytes, const Bytes&) {
  uint64_t old, operand;
  std::memcpy(&old, place.memory, 8);
  std::memcpy(&operand, bytes.data(), 8);
  const double x = arith::f64_of(old), y = arith::f64_of(operand);
  uint64_t sum = arith::is_nan(y) ? operand : old;
  if (!arith::is_nan(x) && !arith::is_nan(y))
    sum = arith::bits_of(arith::add_f64(x, y, arith::Rounding::kNearestEven));
  else if (place.shared)
    sum |= uint64_t{1} << 51;
  std::memcpy(place.memory, &sum, 8);
}

using Effect = void (*)(const Place&, const Bytes&, const Bytes&);

// --- the handler ---

// The slots of one operand: elements of at most eight bytes.
class OperandSlots {
 public:
  OperandSlots(const Slot* slots, uint32_t bytes, uint32_t step)
      : slots_(slots), count_(bytes / step), step_(step) {}

  void read(const Warp& warp, int lane, Bytes& into) const {
    for (uint32_t i = 0; i < count_; ++i) {
      const uint64_t value = step_ == 8 ? warp.lanes<uint64_t>(slots_[i])[lane]
                                        : warp.lanes<uint32_t>(slots_[i])[lane];
      std::memcpy(into.data() + i * step_, &value, step_);
    }
  }
  void write(const Warp& warp, int lane, const Bytes& from) const {
    for (uint32_t i = 0; i < count_; ++i) {
      uint64_t value = 0;
      std::memcpy(&value, from.data() + i * step_, step_);
      if (step_ == 8)
        warp.lanes<uint64_t>(slots_[i])[lane] = value;
      else
        warp.lanes<uint32_t>(slots_[i])[lane] = static_cast<uint32_t>(value);
    }
  }
  const Slot* end() const { return slots_ + count_; }

 private:
  const Slot* slots_;
  uint32_t count_;
  uint32_t step_;
};

// Of whichever CTA of the cluster: sums there are as in the CTA's own [H200].
bool is_in_shared(const Warp& warp, const std::byte* at) {
  return std::ranges::any_of(warp.cta->cluster, [&](const Cta* cta) {
    return cta != nullptr && at >= cta->shared.data() &&
           at < cta->shared.data() + cta->shared.size();
  });
}

// `returns`: the old value goes to the results. `operands`: one, or two for cas.
template <Effect effect, bool returns, int operands>
void run(const Op& op, Warp& warp) {
  const AccessShape shape = AccessShape::decode(op.detail);
  LaneBytes bytes;
  if (!locate(op, warp, shape, order::Kind::kAtomic, bytes, returns)) return;
  const uint32_t size = shape.bytes();
  const uint32_t step = std::min(shape.element_bytes(), 8u);
  const OperandSlots results(warp.program->more(op), returns ? size : 0, step);
  const OperandSlots first(results.end(), size, step);
  const OperandSlots second(first.end(), operands == 2 ? size : 0, step);
  for_each_lane(warp.active, [&](int lane) {
    std::byte* memory = bytes.at[lane];
    Bytes old, operand, replacement;
    first.read(warp, lane, operand);
    second.read(warp, lane, replacement);
    std::memcpy(old.data(), memory, size);
    effect({memory, size, is_in_shared(warp, memory)}, operand, replacement);
    results.write(warp, lane, old);
  });
}

template <Effect effect, int operands>
Handlers handlers_of(bool returns) {
  return returns ? plain_handlers<run<effect, true, operands>>
                 : plain_handlers<run<effect, false, operands>>;
}

// --- which reduction ---

ReduceOp reduce_op(const Decoder& decoder) {
  if (decoder.has(Mod::add)) return ReduceOp::add;
  if (decoder.has(Mod::min)) return ReduceOp::min;
  if (decoder.has(Mod::max)) return ReduceOp::max;
  if (decoder.has(Mod::inc)) return ReduceOp::inc;
  if (decoder.has(Mod::dec)) return ReduceOp::dec;
  if (decoder.has(Mod::_and)) return ReduceOp::and_bits;
  return decoder.has(Mod::_or) ? ReduceOp::or_bits : ReduceOp::xor_bits;
}

ReduceType reduce_type(const Decoder& decoder) {
  switch (ptx::element_of(decoder.type())) {
    case Type::f16:
      return ReduceType::f16;
    case Type::bf16:
      return ReduceType::bf16;
    case Type::f32:
      return decoder.has(Mod::noftz) ? ReduceType::f32 : ReduceType::f32_ftz;
    case Type::f64:
      return ReduceType::f64;
    case Type::s32:
      return ReduceType::s32;
    case Type::s64:
      return ReduceType::s64;
    case Type::b64:
    case Type::u64:
      return ReduceType::u64;
    default:
      return ReduceType::u32;
  }
}

template <ReduceOp op>
Handlers reduction(ReduceType type, bool returns) {
  switch (type) {
    case ReduceType::u32:
      return handlers_of<reduce<op, ReduceType::u32>, 1>(returns);
    case ReduceType::s32:
      return handlers_of<reduce<op, ReduceType::s32>, 1>(returns);
    case ReduceType::u64:
      return handlers_of<reduce<op, ReduceType::u64>, 1>(returns);
    case ReduceType::s64:
      return handlers_of<reduce<op, ReduceType::s64>, 1>(returns);
    case ReduceType::f16:
      return handlers_of<reduce<op, ReduceType::f16>, 1>(returns);
    case ReduceType::bf16:
      return handlers_of<reduce<op, ReduceType::bf16>, 1>(returns);
    case ReduceType::f64:
      return handlers_of<add_f64, 1>(returns);
    case ReduceType::f32:
      return handlers_of<reduce<op, ReduceType::f32>, 1>(returns);
    case ReduceType::f32_ftz:
      break;
  }
  return handlers_of<reduce<op, ReduceType::f32_ftz>, 1>(returns);
}

Handlers reduction(ReduceOp op, ReduceType type, bool returns) {
  switch (op) {
    case ReduceOp::add:
      return reduction<ReduceOp::add>(type, returns);
    case ReduceOp::min:
      return reduction<ReduceOp::min>(type, returns);
    case ReduceOp::max:
      return reduction<ReduceOp::max>(type, returns);
    case ReduceOp::inc:
      return reduction<ReduceOp::inc>(type, returns);
    case ReduceOp::dec:
      return reduction<ReduceOp::dec>(type, returns);
    case ReduceOp::and_bits:
      return reduction<ReduceOp::and_bits>(type, returns);
    case ReduceOp::or_bits:
      return reduction<ReduceOp::or_bits>(type, returns);
    case ReduceOp::xor_bits:
      break;
  }
  return reduction<ReduceOp::xor_bits>(type, returns);
}

// --- binding ---

order::Strength strength_of(const Decoder& decoder) {
  if (decoder.has(Mod::acq_rel)) return order::Strength::kAcqRel;
  if (decoder.has(Mod::acquire)) return order::Strength::kAcquire;
  return decoder.has(Mod::release) ? order::Strength::kRelease : order::Strength::kRelaxed;
}

AccessShape shape_of(const Decoder& decoder, const program::Address& address) {
  AccessShape shape;
  shape.space = access_space(decoder, address);
  shape.wide_address = address.wide;
  shape.element_log2 = static_cast<uint8_t>(
      std::countr_zero(static_cast<uint32_t>(ptx::bits_of(decoder.type())) / 8));
  shape.vector_log2 = access_vector_log2(decoder);
  shape.strength = strength_of(decoder);
  shape.scope = access_scope(decoder, order::Scope::kGpu);
  return shape;
}

void append(std::vector<Slot>& slots, std::vector<Slot> more) {
  slots.insert(slots.end(), more.begin(), more.end());
}

// The operands: for atom `d, [a], b`, for red `[a], b`, for cas another one behind.
struct Layout {
  bool returns;
  size_t address;
  size_t sources;
};

void emit(Decoder& decoder, Handlers handlers, Layout layout) {
  const Type type = decoder.type();
  const size_t at = layout.address;
  std::vector<Slot> slots;
  if (layout.returns) slots = decoder.results(decoder.operand(0), type);
  for (size_t i = 1; i <= layout.sources; ++i)
    append(slots, decoder.sources(decoder.operand(at + i), type));
  const program::Address address = decoder.address(decoder.operand(at));
  Op& op = decoder.emit(handlers, {}, address.base);
  op.immediate = address.displacement();
  op.detail = shape_of(decoder, address).encode();
  decoder.attach(op, slots);
}

// An atom whose result nobody uses is a reduction: the old value decides nothing (rule D-5).
bool returns_value(Decoder& decoder) { return decoder.is_named_elsewhere(decoder.operand(0)); }

void bind_exchange_or_reduction(Decoder& decoder) {
  const bool returns = returns_value(decoder);
  const Handlers handlers = decoder.has(Mod::exch)
                                ? handlers_of<exchange, 1>(returns)
                                : reduction(reduce_op(decoder), reduce_type(decoder), returns);
  emit(decoder, handlers, {returns, 1, 1});
}

void bind_cas(Decoder& decoder) {
  const bool returns = returns_value(decoder);
  emit(decoder, handlers_of<compare_and_swap, 2>(returns), {returns, 1, 2});
}

void bind_reduction(Decoder& decoder) {
  emit(decoder, reduction(reduce_op(decoder), reduce_type(decoder), false), {false, 0, 1});
}

}  // namespace

void bind_atom(Decoder& decoder) { bind_exchange_or_reduction(decoder); }
void bind_atom_b128(Decoder& decoder) { bind_exchange_or_reduction(decoder); }
void bind_atom_f16(Decoder& decoder) { bind_exchange_or_reduction(decoder); }
void bind_atom_vector(Decoder& decoder) { bind_exchange_or_reduction(decoder); }
void bind_atom_vector_f16(Decoder& decoder) { bind_exchange_or_reduction(decoder); }
void bind_atom_f32_noftz(Decoder& decoder) { bind_exchange_or_reduction(decoder); }
void bind_atom_vector_noftz(Decoder& decoder) { bind_exchange_or_reduction(decoder); }
void bind_atom_cas(Decoder& decoder) { bind_cas(decoder); }
void bind_atom_cas_b128(Decoder& decoder) { bind_cas(decoder); }
void bind_red(Decoder& decoder) { bind_reduction(decoder); }
void bind_red_f16(Decoder& decoder) { bind_reduction(decoder); }
void bind_red_f32_noftz(Decoder& decoder) { bind_reduction(decoder); }
void bind_red_vector_noftz(Decoder& decoder) { bind_reduction(decoder); }
void bind_red_vector(Decoder& decoder) { bind_reduction(decoder); }
void bind_red_vector_f16(Decoder& decoder) { bind_reduction(decoder); }

}  // namespace lw::machine
