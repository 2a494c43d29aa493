// PTX: Data Movement and Conversion Instructions: st.bulk: zeros in a piece of shared memory, as
// one weak store of the lane. The order engine hears of it in pieces that an ordinary store could
// have.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "machine/cta.h"
#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/machine.h"
#include "machine/semantics/asynchronous_copy/bulk_sites.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/shared_place.h"
#include "machine/semantics/telling.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

using ptx::Type;

// Op: a address, b its displacement, c the size (64 bits).
constexpr uint64_t kUnit = 8;  // the size is a multiple of it, and so is the address
constexpr uint64_t kMost = 16777216;
constexpr uint32_t kPiece = 32;  // the longest access of a lane

void tell(const Op& op, Warp& warp, int lane, uint32_t offset, uint32_t size) {
  if (warp.order == nullptr) return;
  const Telling telling(op, warp);
  order::Access access;
  access.op = op.instruction;
  access.lanes = 1u << lane;
  access.space = order::Space::kShared;
  access.kind = order::Kind::kWrite;
  for (uint32_t at = offset; at < offset + size;) {
    uint32_t bytes = kPiece;
    while (at % bytes != 0 || bytes > offset + size - at) bytes /= 2;
    access.bytes = access.element_bytes = static_cast<uint8_t>(bytes);
    access.at = order::Addresses::uniform(at);
    warp.order->access(*warp.order_warp, access);
    at += bytes;
  }
}

void fill_lane(const Op& op, Warp& warp, int lane) {
  const uint64_t size = warp.lanes<uint64_t>(op.c)[lane];
  if (size % kUnit != 0 || size > kMost) {
    warp.fail(op, FaultKind::bulk_misuse,
              fmt::format("the size of {} bytes is not a multiple of 8 up to {}", size, kMost),
              1u << lane);
    return;
  }
  if (size == 0) return;
  const AddressOperand place{op.a, op.b, (op.detail & kWide) != 0, (op.detail & kGeneric) != 0};
  const auto bytes = static_cast<uint32_t>(size);
  const auto offset = shared_offset(op, warp, place, lane, bytes, kUnit);
  if (!offset || !is_free_of_objects(op, warp, *warp.cta, *offset, bytes, lane)) return;
  tell(op, warp, lane, *offset, bytes);
  std::memset(warp.shared + *offset, 0, bytes);
}

void run_fill(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) {
    if (!warp.machine->has_ended()) fill_lane(op, warp, lane);
  });
}

}  // namespace

void bind_st_bulk(Decoder& decoder) {
  const AddressOperand place = address_operand(decoder, decoder.operand(0));
  const Slot size = decoder.source(decoder.operand(1), Type::u64);
  Op& op = decoder.emit(plain_handlers<run_fill>, {}, place.base, place.displacement, size);
  op.detail = address_bits(place);
}

}  // namespace lw::machine
