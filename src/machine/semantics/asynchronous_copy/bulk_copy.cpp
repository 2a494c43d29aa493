// cp.async.bulk and cp.reduce.async.bulk between global and shared memory and to the shared memory
// of another CTA, and the prefetch (PTX: Data Movement, cp.async.bulk). Each lane's copy is an
// operation of its own, and each CTA's of a multicast; nearly always one lane issues it.

#include <fmt/format.h>

#include <cstring>

#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/asynchronous_copy/bulk_sites.h"
#include "machine/semantics/bind.h"

namespace lw::machine {
namespace {

using ptx::Mod;
using ptx::Type;

// Op: a size, b mask of CTAs or of bytes; more: the shared address, the global one (of a copy to
// another CTA: the one there, the one here), the mbarrier's.
// Bits of `detail`: of the addresses at these shifts. `immediate`: the reduction and its type.
constexpr uint32_t kSharedAt = 0, kOtherAt = 2, kSignalAt = 4;
constexpr int kSharedBits = 0, kOtherBits = 2, kSignalBits = 4;
constexpr uint16_t kMulticast = 1 << 6;
constexpr uint16_t kReduces = 1 << 7;
constexpr uint16_t kMasked = 1 << 8;
constexpr uint16_t kCluster = 1 << 9;  // the destination may be another CTA's
constexpr uint32_t kChunk = 16;
constexpr uint16_t kAllBytes = 0xffff;

void put(const Op& op, std::span<std::byte> to, std::span<const std::byte> data) {
  if (op.detail & kReduces)
    Reduction::of(op).run(to.data(), data);
  else
    std::memcpy(to.data(), data.data(), data.size());
}

class BulkLoad final : public SignalledLoad {
 public:
  BulkLoad(const Op& op, Warp& warp, const LoadTarget& target, uint32_t to,
           std::span<const std::byte> from)
      : SignalledLoad(op, warp, target, static_cast<uint32_t>(from.size())),
        to_offset_(to),
        from_(from) {}
  void perform_read(Machine&) override { data_.assign(from_.begin(), from_.end()); }

 private:
  void write_shared(std::byte* shared) override {
    put(op_, {shared + to_offset_, data_.size()}, data_);
  }

  uint32_t to_offset_;
  std::span<const std::byte> from_;
  std::vector<std::byte> data_;
};

class BulkStore final : public GroupedStore {
 public:
  // Of every 16 bytes those go whose bit in `mask` is set.
  BulkStore(const Op& op, Warp& warp, uint32_t from, std::span<std::byte> to, uint16_t mask)
      : GroupedStore(op, warp), from_(from), to_(to), mask_(mask) {}

 private:
  void read_shared() override {
    data_.assign(warp_.shared + from_, warp_.shared + from_ + to_.size());
  }
  void write_global() override {
    if (mask_ == kAllBytes) return put(op_, to_, data_);
    for (size_t i = 0; i < data_.size(); ++i) {
      if ((mask_ >> (i % kChunk) & 1) != 0) to_[i] = data_[i];
    }
  }

  uint32_t from_;
  std::span<std::byte> to_;
  uint16_t mask_;
  std::vector<std::byte> data_;
};

std::optional<uint32_t> size_of(const Op& op, Warp& warp, int lane) {
  const uint32_t size = warp.lanes<uint32_t>(op.a)[lane];
  if (size % kChunk == 0) return size;
  warp.fail(op, FaultKind::bulk_misuse,
            fmt::format("the size of {} bytes is not a multiple of 16", size), 1u << lane);
  return std::nullopt;
}

// The destination of a load, the source of a store; and the other end.
AddressOperand shared_operand(const Op& op, const Warp& warp) {
  return attached_address(op, warp, kSharedAt, kSharedBits);
}
AddressOperand other_operand(const Op& op, const Warp& warp) {
  return attached_address(op, warp, kOtherAt, kOtherBits);
}

LoadOperands load_operands(const Op& op, const Warp& warp) {
  return {.to = shared_operand(op, warp),
          .signal = attached_address(op, warp, kSignalAt, kSignalBits),
          .in_cluster = (op.detail & kCluster) != 0,
          .multicast = (op.detail & kMulticast) != 0,
          .ranks = op.b};
}

// What is copied, and how the order engine is told of it.
struct Source {
  std::span<const std::byte> bytes;
  order::AsyncAccess access;
};

void load_from(const Op& op, Warp& warp, int lane, const Source& source) {
  const LoadOperands operands = load_operands(op, warp);
  const auto size = static_cast<uint32_t>(source.bytes.size());
  const auto place = load_place(op, warp, lane, operands, size, kChunk);
  if (!place) return;
  const order::Range to{place->offset, size};
  LoadAccess access{source.access, {&to, 1}};
  if (op.detail & kReduces) {
    access.kind = order::Kind::kAtomic;
    access.element_bytes = Reduction::of(op).element_bytes();
  }
  for (const LoadTarget& target : load_targets(op, warp, lane, operands, *place->cta)) {
    if (!is_free_of_objects(op, warp, *target.to, place->offset, size, lane)) return;
    start_load(op, warp, lane, target, access,
               std::make_unique<BulkLoad>(op, warp, target, place->offset, source.bytes));
  }
}

void load_lane(const Op& op, Warp& warp, int lane) {
  const auto size = size_of(op, warp, lane);
  if (!size) return;
  const uint64_t address = address_of_lane(warp, other_operand(op, warp), lane);
  const std::byte* data = global_bytes(op, warp, address, *size, lane);
  if (data == nullptr) return;
  const order::Range from{address, *size};
  load_from(op, warp, lane, {{data, *size}, global_access(order::Kind::kRead, {&from, 1}, kChunk)});
}

void load_from_shared_lane(const Op& op, Warp& warp, int lane) {
  const auto size = size_of(op, warp, lane);
  if (!size) return;
  const AddressOperand source = other_operand(op, warp);
  const auto offset = shared_offset(op, warp, source, lane, *size, kChunk);
  if (!offset || !is_free_of_objects(op, warp, *warp.cta, *offset, *size, lane)) return;
  const uint64_t to = address_of_lane(warp, shared_operand(op, warp), lane);
  if (rank_of(to) == warp.cta->cluster_rank)
    return warp.fail(op, FaultKind::bulk_misuse, "the destination is in the CTA itself",
                     1u << lane);
  const order::Range from{*offset, *size};
  load_from(
      op, warp, lane,
      {{warp.shared + *offset, *size}, shared_access(*warp.cta, order::Kind::kRead, {&from, 1})});
}

// The bytes from `base` on that the mask lets through, in stretches.
std::vector<order::Range> stretches(uint64_t base, uint32_t size, uint16_t mask) {
  if (mask == kAllBytes) return {{base, size}};
  std::vector<order::Range> ranges;
  for (uint32_t i = 0; i < size; ++i) {
    if ((mask >> (i % kChunk) & 1) == 0) continue;
    if (ranges.empty() || ranges.back().base + ranges.back().bytes != base + i)
      ranges.push_back({base + i, 0});
    ++ranges.back().bytes;
  }
  return ranges;
}

void store_lane(const Op& op, Warp& warp, int lane) {
  const auto size = size_of(op, warp, lane);
  if (!size) return;
  const auto offset = shared_offset(op, warp, shared_operand(op, warp), lane, *size, kChunk);
  if (!offset || !is_free_of_objects(op, warp, *warp.cta, *offset, *size, lane)) return;
  const uint64_t address = address_of_lane(warp, other_operand(op, warp), lane);
  std::byte* const data = global_bytes(op, warp, address, *size, lane);
  if (data == nullptr) return;
  const uint16_t mask =
      op.detail & kMasked ? static_cast<uint16_t>(warp.lanes<uint32_t>(op.b)[lane]) : kAllBytes;
  const bool reduces = op.detail & kReduces;
  const uint32_t element = reduces ? Reduction::of(op).element_bytes() : kChunk;
  const auto from = stretches(*offset, *size, mask);
  const auto to = stretches(address, *size, mask);
  const order::AsyncAccess accesses[] = {
      shared_access(*warp.cta, order::Kind::kRead, from),
      global_access(reduces ? order::Kind::kAtomic : order::Kind::kWrite, to, element)};
  start_store(op, warp, lane, accesses,
              std::make_unique<BulkStore>(op, warp, *offset, std::span(data, *size), mask));
}

template <void (*one)(const Op&, Warp&, int)>
void run_lanes(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) {
    if (!warp.machine->has_ended()) one(op, warp, lane);
  });
}

void run_nothing(const Op&, Warp&) {}

// `shared`, `other`: which operands are the addresses there.
Op& bind(Decoder& decoder, program::Handlers handlers, size_t shared, size_t other) {
  const AddressOperand in_shared = address_operand(decoder, decoder.operand(shared));
  const AddressOperand at_other = address_operand(decoder, decoder.operand(other));
  Slot slots[] = {
      in_shared.base, in_shared.displacement, at_other.base, at_other.displacement, {}, {}};
  uint16_t bits = static_cast<uint16_t>(address_bits(in_shared) << kSharedBits |
                                        (at_other.wide ? kWide : 0) << kOtherBits);
  if (decoder.operands().size() > 3 && decoder.operand(3).kind == ptx::OperandKind::address) {
    const AddressOperand signal = address_operand(decoder, decoder.operand(3));
    slots[kSignalAt] = signal.base;
    slots[kSignalAt + 1] = signal.displacement;
    bits |= static_cast<uint16_t>(address_bits(signal) << kSignalBits);
  }
  const Slot size = decoder.source(decoder.operand(2), Type::u32);
  Op& op = decoder.emit(handlers, {}, size);
  op.detail = bits;
  decoder.attach(op, slots);
  return op;
}

void bind_reduction(Decoder& decoder, program::Handlers handlers, size_t shared, size_t other,
                    uint16_t bits) {
  const auto reduction = reduction_of(decoder);
  if (!reduction) return;
  Op& op = bind(decoder, handlers, shared, other);
  op.detail |= kReduces | bits;
  op.immediate = reduction->packed();
}

}  // namespace

void bind_cp_async_bulk_g2s(Decoder& decoder) {
  const bool multicast = decoder.has(Mod::multicast_cluster);
  Slot mask;
  if (multicast) mask = decoder.source(decoder.operand(4), Type::u16);
  Op& op = bind(decoder, plain_handlers<run_lanes<load_lane>>, 0, 1);
  op.b = mask;
  if (multicast) op.detail |= kMulticast;
  if (decoder.has(Mod::shared_cluster)) op.detail |= kCluster;
}

void bind_cp_async_bulk_s2s(Decoder& decoder) {
  bind(decoder, plain_handlers<run_lanes<load_from_shared_lane>>, 0, 1).detail |= kCluster;
}

void bind_cp_async_bulk_s2g(Decoder& decoder) {
  const bool masked = decoder.has(Mod::cp_mask);
  Slot mask;
  if (masked) mask = decoder.source(decoder.operands().back(), Type::u16);
  Op& op = bind(decoder, plain_handlers<run_lanes<store_lane>>, 1, 0);
  op.b = mask;
  if (masked) op.detail |= kMasked;
}

void bind_cp_reduce_async_bulk_s2s(Decoder& decoder) {
  bind_reduction(decoder, plain_handlers<run_lanes<load_from_shared_lane>>, 0, 1, kCluster);
}

void bind_cp_reduce_async_bulk_s2g(Decoder& decoder) {
  bind_reduction(decoder, plain_handlers<run_lanes<store_lane>>, 1, 0, 0);
}

void bind_cp_async_bulk_prefetch(Decoder& decoder) { decoder.emit(plain_handlers<run_nothing>); }

}  // namespace lw::machine
