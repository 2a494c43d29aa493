// st.async and red.async to the shared memory of a cluster (PTX: Data Movement, st.async; Parallel
// Synchronization and Communication Instructions, red.async).
//
// Each lane's is an operation of its own: it has taken its value when it is issued, writes it some
// time later into whichever CTA its address names, and counts the bytes at the mbarrier object,
// which is in the same CTA. Held against an H200 in tests/agree/clusters.ptx.
//
// Limits: the order engine does not know these operations (rules ); with one listening they
// are `not analysed`.

#include <array>
#include <cstring>

#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/asynchronous_copy/bulk_sites.h"
#include "machine/semantics/bind.h"

namespace lw::machine {
namespace {

// Op: `immediate` the reduction and its type, if there is one; more: the address, the mbarrier's,
// then the slots of the value. Bits of `detail`: of the two addresses, bytes of a slot and of all.
constexpr uint32_t kToAt = 0, kSignalAt = 2, kValueAt = 4;
constexpr int kToBits = 0, kSignalBits = 2;
constexpr uint16_t kReduces = 1 << 4;
constexpr int kStepShift = 5, kSizeShift = 10;
constexpr uint32_t kFive = 31;
constexpr size_t kMostBytes = 16;

struct Value {
  std::array<std::byte, kMostBytes> bytes{};
  uint32_t size = 0;
};

class StoreAsync final : public SignalledLoad {
 public:
  StoreAsync(const Op& op, Warp& warp, const LoadTarget& target, uint32_t to, const Value& value)
      : SignalledLoad(op, warp, target, value.size), to_offset_(to), value_(value) {}
  void perform_read(Machine&) override {}

 private:
  void write_shared(std::byte* shared) override {
    std::byte* const to = shared + to_offset_;
    if (op_.detail & kReduces)
      Reduction::of(op_).run(to, {value_.bytes.data(), value_.size});
    else
      std::memcpy(to, value_.bytes.data(), value_.size);
  }

  uint32_t to_offset_;
  Value value_;
};

Value value_of(const Op& op, const Warp& warp, int lane) {
  Value value;
  value.size = op.detail >> kSizeShift & kFive;
  const uint32_t step = op.detail >> kStepShift & kFive;
  const Slot* slots = warp.program->more(op) + kValueAt;
  for (uint32_t at = 0; at < value.size; at += step, ++slots) {
    const uint64_t element =
        step == 8 ? warp.lanes<uint64_t>(*slots)[lane] : warp.lanes<uint32_t>(*slots)[lane];
    std::memcpy(value.bytes.data() + at, &element, step);
  }
  return value;
}

void store_lane(const Op& op, Warp& warp, int lane) {
  const Value value = value_of(op, warp, lane);
  const LoadOperands operands{.to = attached_address(op, warp, kToAt, kToBits),
                              .signal = attached_address(op, warp, kSignalAt, kSignalBits),
                              .in_cluster = true};
  const auto place = load_place(op, warp, lane, operands, value.size, value.size);
  if (!place) return;
  for (const LoadTarget& target : load_targets(op, warp, lane, operands, *place->cta)) {
    if (!is_free_of_objects(op, warp, *target.to, place->offset, value.size, lane)) return;
    ++target.signal.entry->signals_pending;
    warp.machine
        ->start(std::make_unique<StoreAsync>(op, warp, target, place->offset, value), warp, op)
        .lanes = 1u << lane;
  }
}

void run(const Op& op, Warp& warp) {
  if (!may_go_unchecked(op, warp, "the order of st.async and red.async")) return;
  for_each_lane(warp.active, [&](int lane) {
    if (!warp.machine->has_ended()) store_lane(op, warp, lane);
  });
}

Op& bind(Decoder& decoder) {
  const ptx::Type type = decoder.type();
  const AddressOperand to = address_operand(decoder, decoder.operand(0));
  const AddressOperand signal = address_operand(decoder, decoder.operand(2));
  std::vector<Slot> slots = {to.base, to.displacement, signal.base, signal.displacement};
  const std::vector<Slot> value = decoder.sources(decoder.operand(1), type);
  slots.insert(slots.end(), value.begin(), value.end());
  const uint32_t step = std::min(static_cast<uint32_t>(ptx::bits_of(type)) / 8, 8u);
  Op& op = decoder.emit(plain_handlers<run>);
  op.detail =
      static_cast<uint16_t>(address_bits(to) << kToBits | address_bits(signal) << kSignalBits |
                            step << kStepShift | step * value.size() << kSizeShift);
  decoder.attach(op, slots);
  return op;
}

}  // namespace

void bind_st_async(Decoder& decoder) { bind(decoder); }
void bind_st_async_b128(Decoder& decoder) { bind(decoder); }

void bind_red_async(Decoder& decoder) {
  const auto reduction = reduction_of(decoder);
  if (!reduction) return;
  Op& op = bind(decoder);
  op.detail |= kReduces;
  op.immediate = reduction->packed();
}

}  // namespace lw::machine
