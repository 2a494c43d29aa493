// cp.async and cp.async.mbarrier.arrive (PTX: Data Movement, cp.async).
//
// One instruction of a warp is one operation: 4, 8 or 16 bytes a lane, read from global memory at
// its first milestone and written to shared memory at its second. Bytes beyond `src-size`, and all
// of them where `ignore-src` holds, are written as zero and not read (rule CA-11).

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/machine.h"
#include "machine/semantics/asynchronous_copy/group_wait.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/parallel_synchronization/mbarrier_site.h"
#include "machine/semantics/telling.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

using base::AsyncId;
using base::kWarpSize;
using base::LaneMask;

// Op: a, b destination; c, d source; more[0] src-size or ignore-src; immediate cp-size.
constexpr uint16_t kWideSource = 4;
constexpr uint16_t kSourceSize = 8;
constexpr uint16_t kIgnoreSource = 16;

struct Copies {
  std::array<uint32_t, kWarpSize> to;            // offset in shared memory
  std::array<uint64_t, kWarpSize> from;          // global address
  std::array<const std::byte*, kWarpSize> data;  // its bytes
  std::array<uint32_t, kWarpSize> read;          // bytes taken from there
};

class AsyncCopy final : public AsyncOperation {
 public:
  AsyncCopy(Warp& warp, const Copies& copies, LaneMask lanes, uint32_t bytes)
      : warp_(warp), copies_(copies), mask_(lanes), bytes_(bytes) {}

  void perform_read(Machine&) override {
    for_each_lane(mask_, [&](int lane) {
      std::byte* buffer = buffer_.data() + 16 * lane;
      std::fill_n(buffer, bytes_, std::byte{0});
      if (copies_.read[lane] != 0) std::memcpy(buffer, copies_.data[lane], copies_.read[lane]);
    });
    warp_.sync.copies.done(this, CopyPart::reads);
  }
  void perform_write(Machine&) override {
    for_each_lane(mask_, [&](int lane) {
      std::memcpy(warp_.shared + copies_.to[lane], buffer_.data() + 16 * lane, bytes_);
    });
    copies_done(warp_, this, CopyPart::writes);
  }

 private:
  Warp& warp_;
  Copies copies_;
  LaneMask mask_;
  uint32_t bytes_;
  std::array<std::byte, 16 * kWarpSize> buffer_;
};

uint32_t bytes_read(const Op& op, const Warp& warp, int lane) {
  const auto size = static_cast<uint32_t>(op.immediate);
  if (!(op.detail & (kSourceSize | kIgnoreSource))) return size;
  const Slot operand = *warp.program->more(op);
  if (op.detail & kIgnoreSource) return warp.predicate(operand) >> lane & 1 ? 0 : size;
  return warp.lanes<uint32_t>(operand)[lane];
}

// Fills in one lane's copy; reports what is wrong with it.
bool prepare(const Op& op, Warp& warp, int lane, Copies& copies) {
  const auto size = static_cast<uint32_t>(op.immediate);
  const AddressOperand to{op.a, op.b, (op.detail & kWide) != 0, (op.detail & kGeneric) != 0};
  const AddressOperand from{op.c, op.d, (op.detail & kWideSource) != 0, false};
  const auto offset = shared_offset(op, warp, to, lane, size, size);
  if (!offset) return false;
  const LaneMask only = 1u << lane;
  if (const auto* object = warp.cta->sync.mbarriers.overlapping(*offset, size)) {
    report(op, warp, *warp.cta, *object, only, "a copy writes over it", diagnose::RuleId::kE3);
    return false;
  }
  copies.to[lane] = *offset;
  copies.read[lane] = bytes_read(op, warp, lane);
  copies.from[lane] = address_of_lane(warp, from, lane);
  if (copies.read[lane] > size) {
    warp.fail(op, FaultKind::bulk_misuse,
              fmt::format("src-size {} is more than cp-size {}", copies.read[lane], size), only);
    return false;
  }
  if (copies.read[lane] == 0) return true;
  if (copies.from[lane] % size != 0) {
    warp.fail_at(op, FaultKind::misaligned, fmt::format("not a multiple of {}", size), only,
                 copies.from[lane], size);
    return false;
  }
  copies.data[lane] = warp.machine->memory().resolve(copies.from[lane], copies.read[lane]);
  if (copies.data[lane] != nullptr) return true;
  warp.fail_at(op, FaultKind::out_of_bounds, "outside every buffer", only, copies.from[lane],
               copies.read[lane]);
  return false;
}

template <class Number>
order::Addresses addresses(const std::array<Number, kWarpSize>& each, LaneMask lanes,
                           uint32_t bytes) {
  const int first = std::countr_zero(lanes);
  const uint64_t base = each[first] - uint64_t{bytes} * first;
  bool contiguous = true;
  for_each_lane(lanes,
                [&](int lane) { contiguous &= each[lane] == base + uint64_t{bytes} * lane; });
  if (contiguous) return order::Addresses::contiguous(base);
  if constexpr (sizeof(Number) == 8)
    return order::Addresses::each64(each.data());
  else
    return order::Addresses::each32(each.data());
}

void tell_order(const Op& op, Warp& warp, const Copies& copies) {
  const Telling telling(op, warp);
  const auto size = static_cast<uint32_t>(op.immediate);
  for_each_value(
      warp.active, [&](int lane) { return copies.read[lane]; },
      [&](uint32_t read, LaneMask lanes) {
        warp.order->cp_async(*warp.order_warp, op.instruction, lanes,
                             addresses(copies.to, lanes, size), size,
                             addresses(copies.from, lanes, size), read);
      });
}

void run_cp_async(const Op& op, Warp& warp) {
  Copies copies{};
  bool fine = true;
  for_each_lane(warp.active, [&](int lane) { fine = fine && prepare(op, warp, lane, copies); });
  if (!fine) return;
  if (warp.order) tell_order(op, warp, copies);
  AsyncOperation& operation = warp.machine->start(
      std::make_unique<AsyncCopy>(warp, copies, warp.active, static_cast<uint32_t>(op.immediate)),
      warp, op);
  warp.sync.copies.issue(warp.active, &operation);
}

// The arrival that cp.async.mbarrier.arrive promises: it comes when the copies that its lanes had
// issued before are done.
class CopyArrival final : public AsyncOperation {
 public:
  CopyArrival(const Op& op, Warp& warp, uint32_t offset, LaneMask lanes, AsyncId order_id)
      : op_(op),
        warp_(warp),
        offset_(offset),
        mask_(lanes),
        place_(warp.sync.copies.now()),
        order_id_(order_id) {}

  bool can_advance() const override { return !warp_.sync.copies.has_before(mask_, place_); }
  void perform_read(Machine&) override {}
  void perform_write(Machine& machine) override;

 private:
  const Op& op_;
  Warp& warp_;
  uint32_t offset_;
  LaneMask mask_;
  uint64_t place_;
  AsyncId order_id_;
};

void CopyArrival::perform_write(Machine& machine) {
  Cta& cta = *warp_.cta;
  MbarrierEntry* entry = signalled_object(op_, warp_, cta, offset_, mask_, "the copies are done");
  if (entry == nullptr) return;
  if (machine.order()) machine.order()->async_arrive(order_id_);
  const auto count = static_cast<uint32_t>(std::popcount(mask_));
  if (count > entry->object.pending())
    return warp_.not_analysed(op_, "arrivals of one instruction fall into two phases");
  take_signal(op_, warp_, cta, *entry, mask_, entry->object.arrive({.count = count}));
}

constexpr uint16_t kNoIncrement = 4;

void start_arrival(const Op& op, Warp& warp, MbarrierEntry& entry, LaneMask lanes) {
  for_each_lane(op.detail & kNoIncrement ? 0 : lanes, [&](int lane) {
    const MbarrierFault fault = entry.object.add_pending();
    if (fault != MbarrierFault::none)
      report(op, warp, *warp.cta, entry, 1u << lane, mbarrier_fault_text(fault));
  });
  if (warp.machine->has_ended()) return;
  ++entry.signals_pending;
  AsyncId order_id;
  if (warp.order)
    order_id = warp.order->cp_async_arrive(*warp.order_warp, op.instruction, lanes,
                                           place_of(*warp.cta, entry));
  warp.machine
      ->start(std::make_unique<CopyArrival>(op, warp, entry.offset, lanes, order_id), warp, op)
      .lanes = lanes;
}

void run_arrive(const Op& op, Warp& warp) {
  const AddressOperand operand{op.a, op.b, (op.detail & kWide) != 0, (op.detail & kGeneric) != 0};
  for_each_value(
      warp.active, [&](int lane) { return address_of_lane(warp, operand, lane); },
      [&](uint64_t, LaneMask lanes) {
        if (warp.machine->has_ended()) return;
        MbarrierEntry* entry = object_at(op, warp, operand, std::countr_zero(lanes));
        if (entry != nullptr) start_arrival(op, warp, *entry, lanes);
      });
}

}  // namespace

void bind_cp_async(Decoder& decoder) {
  const AddressOperand to = address_operand(decoder, decoder.operand(0));
  const AddressOperand from = address_operand(decoder, decoder.operand(1));
  const auto operands = decoder.operands();
  const bool hint = decoder.has(ptx::Mod::L2_cache_hint);
  const bool has_size = operands.size() > (hint ? 4u : 3u);
  const bool ignore = has_size && decoder.declared(operands[3]) == ptx::Type::pred;
  Slot size;
  if (has_size) size = decoder.source(operands[3], ignore ? ptx::Type::pred : ptx::Type::u32);
  Op& op = decoder.emit(plain_handlers<run_cp_async>, from.displacement, to.base, to.displacement,
                        from.base);
  op.immediate = static_cast<uint64_t>(operands[2].value);
  op.detail = static_cast<uint16_t>(address_bits(to) | (from.wide ? kWideSource : 0) |
                                    (has_size ? ignore ? kIgnoreSource : kSourceSize : 0));
  decoder.attach(op, {&size, 1});
}

void bind_cp_async_mbarrier_arrive(Decoder& decoder) {
  const AddressOperand address = address_operand(decoder, decoder.operand(0));
  Op& op = decoder.emit(plain_handlers<run_arrive>, Slot{}, address.base, address.displacement);
  op.detail = static_cast<uint16_t>(address_bits(address) |
                                    (decoder.has(ptx::Mod::noinc) ? kNoIncrement : 0));
}

}  // namespace lw::machine
