// cp.async.bulk and cp.reduce.async.bulk between global and shared memory, and the prefetch (PTX:
// Data Movement, cp.async.bulk). Each lane's copy is an operation of its own; nearly always one
// lane issues it. Copies to the shared memory of another CTA are not modelled.

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

// Op: a size, b mask of CTAs or of bytes; more: the shared address, the global one, the mbarrier's.
// Bits of `detail`: of the addresses at these shifts. `immediate`: the reduction and its type.
constexpr uint32_t kSharedAt = 0, kGlobalAt = 2, kSignalAt = 4;
constexpr int kSharedBits = 0, kGlobalBits = 2, kSignalBits = 4;
constexpr uint16_t kMulticast = 1 << 6;
constexpr uint16_t kReduces = 1 << 7;
constexpr uint16_t kMasked = 1 << 8;
constexpr uint32_t kChunk = 16;
constexpr uint16_t kAllBytes = 0xffff;

class BulkLoad final : public SignalledLoad {
 public:
  BulkLoad(const Op& op, Warp& warp, uint32_t signal, uint32_t to, std::span<const std::byte> from)
      : SignalledLoad(op, warp, signal, static_cast<uint32_t>(from.size())),
        to_offset_(to),
        from_(from) {}
  void perform_read(Machine&) override { data_.assign(from_.begin(), from_.end()); }

 private:
  void write_shared(std::byte* shared) override {
    std::memcpy(shared + to_offset_, data_.data(), data_.size());
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
    if (!(op_.detail & kReduces)) return copy();
    reduce_elements(to_.data(), data_.data(), static_cast<uint32_t>(data_.size()),
                    static_cast<ReduceOp>(op_.immediate >> 8),
                    static_cast<ReduceType>(op_.immediate & 0xff));
  }

  void copy() {
    if (mask_ == kAllBytes) {
      std::memcpy(to_.data(), data_.data(), data_.size());
      return;
    }
    for (size_t i = 0; i < data_.size(); ++i) {
      if ((mask_ >> (i % kChunk) & 1) != 0) to_[i] = data_[i];
    }
  }

  uint32_t from_;
  std::span<std::byte> to_;
  uint16_t mask_;
  std::vector<std::byte> data_;
};

// What both directions need of one lane; nothing if a fault has been reported.
struct Site {
  uint32_t size = 0;
  uint32_t offset = 0;  // in shared memory
  uint64_t address = 0;
  std::byte* data = nullptr;
};

std::optional<Site> site_of(const Op& op, Warp& warp, int lane) {
  Site site;
  site.size = warp.lanes<uint32_t>(op.a)[lane];
  if (site.size % kChunk != 0) {
    warp.fail(op, FaultKind::bulk_misuse,
              fmt::format("the size of {} bytes is not a multiple of 16", site.size), 1u << lane);
    return std::nullopt;
  }
  const AddressOperand shared = attached_address(op, warp, kSharedAt, kSharedBits);
  const auto offset = shared_offset(op, warp, shared, lane, site.size, kChunk);
  if (!offset || !is_free_of_objects(op, warp, *offset, site.size, lane)) return std::nullopt;
  site.offset = *offset;
  site.address = address_of_lane(warp, attached_address(op, warp, kGlobalAt, kGlobalBits), lane);
  site.data = global_bytes(op, warp, site.address, site.size, lane);
  return site.data == nullptr ? std::nullopt : std::optional(site);
}

void load_lane(const Op& op, Warp& warp, int lane) {
  uint32_t ranks = 0;
  if ((op.detail & kMulticast) && !find_ranks(op, warp, op.b, lane, ranks)) return;
  if (ranks != 0) return warp.not_analysed(op, "a bulk multicast to other CTAs of the cluster");
  const auto site = site_of(op, warp, lane);
  if (!site) return;
  MbarrierEntry* signal =
      object_at(op, warp, attached_address(op, warp, kSignalAt, kSignalBits), lane);
  if (signal == nullptr) return;
  const order::Range from{site->address, site->size}, to{site->offset, site->size};
  const order::AsyncAccess accesses[] = {global_access(order::Kind::kRead, {&from, 1}, kChunk),
                                         shared_access(*warp.cta, order::Kind::kWrite, {&to, 1})};
  start_load(op, warp, lane, *signal, accesses,
             std::make_unique<BulkLoad>(op, warp, signal->offset, site->offset,
                                        std::span<const std::byte>(site->data, site->size)));
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
  const auto site = site_of(op, warp, lane);
  if (!site) return;
  const uint16_t mask =
      op.detail & kMasked ? static_cast<uint16_t>(warp.lanes<uint32_t>(op.b)[lane]) : kAllBytes;
  const bool reduces = op.detail & kReduces;
  const uint32_t element =
      reduces ? reduce_element_bytes(static_cast<ReduceType>(op.immediate & 0xff)) : kChunk;
  const auto from = stretches(site->offset, site->size, mask);
  const auto to = stretches(site->address, site->size, mask);
  const order::AsyncAccess accesses[] = {
      shared_access(*warp.cta, order::Kind::kRead, from),
      global_access(reduces ? order::Kind::kAtomic : order::Kind::kWrite, to, element)};
  start_store(
      op, warp, lane, accesses,
      std::make_unique<BulkStore>(op, warp, site->offset, std::span(site->data, site->size), mask));
}

template <void (*one)(const Op&, Warp&, int)>
void run_lanes(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) {
    if (!warp.machine->has_ended()) one(op, warp, lane);
  });
}

void run_nothing(const Op&, Warp&) {}

std::optional<ReduceType> type_of(Type type) {
  switch (type) {
    case Type::b32:
    case Type::u32:
      return ReduceType::u32;
    case Type::s32:
      return ReduceType::s32;
    case Type::b64:
    case Type::u64:
      return ReduceType::u64;
    case Type::s64:
      return ReduceType::s64;
    case Type::f16:
      return ReduceType::f16;
    case Type::bf16:
      return ReduceType::bf16;
    case Type::f32:
      return ReduceType::f32;
    case Type::f64:
      return ReduceType::f64;
    default:
      return std::nullopt;
  }
}

// `shared`, `global`: which operands are the addresses there.
Op& bind(Decoder& decoder, program::Handlers handlers, size_t shared, size_t global) {
  const AddressOperand in_shared = address_operand(decoder, decoder.operand(shared));
  const AddressOperand in_global = address_operand(decoder, decoder.operand(global));
  Slot slots[] = {
      in_shared.base, in_shared.displacement, in_global.base, in_global.displacement, {}, {}};
  uint16_t bits = static_cast<uint16_t>(address_bits(in_shared) << kSharedBits |
                                        (in_global.wide ? kWide : 0) << kGlobalBits);
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

}  // namespace

void bind_cp_async_bulk_g2s(Decoder& decoder) {
  const bool multicast = decoder.has(Mod::multicast_cluster);
  Slot mask;
  if (multicast) mask = decoder.source(decoder.operand(4), Type::u16);
  Op& op = bind(decoder, plain_handlers<run_lanes<load_lane>>, 0, 1);
  op.b = mask;
  if (multicast) op.detail |= kMulticast;
}

void bind_cp_async_bulk_s2g(Decoder& decoder) {
  const bool masked = decoder.has(Mod::cp_mask);
  Slot mask;
  if (masked) mask = decoder.source(decoder.operands().back(), Type::u16);
  Op& op = bind(decoder, plain_handlers<run_lanes<store_lane>>, 1, 0);
  op.b = mask;
  if (masked) op.detail |= kMasked;
}

void bind_cp_reduce_async_bulk_s2g(Decoder& decoder) {
  const auto reduce = reduce_op_of(decoder);
  const auto type = type_of(decoder.type());
  if (!reduce || !type || !reduces(*reduce, *type))
    return decoder.not_modelled("a reduction that its type does not have");
  Op& op = bind(decoder, plain_handlers<run_lanes<store_lane>>, 1, 0);
  op.detail |= kReduces;
  op.immediate = static_cast<uint64_t>(*reduce) << 8 | static_cast<uint64_t>(*type);
}

void bind_cp_async_bulk_prefetch(Decoder& decoder) { decoder.emit(plain_handlers<run_nothing>); }

}  // namespace lw::machine
