#pragma once
// How loads and stores of common shape tell the order engine of themselves: as one more like the
// last, which makes no call (order/recall.h), or in full.

#include <bit>
#include <cstdint>

#include "machine/machine.h"
#include "machine/semantics/lanes.h"
#include "order/engine.h"
#include "order/recall.h"

namespace lw::machine::LW_SIMD_NAMESPACE {
namespace {

enum class Window : uint8_t { shared, shared_wide, global };

template <Window window>
using AddressOf = std::conditional_t<window == Window::shared, uint32_t, uint64_t>;

// Full handlers may meet a warp with exited lanes: then there is a mask after all.
LW_ALWAYS_INLINE bool is_whole(const Warp& warp) { return warp.active == base::kAllLanes; }

// The address as the order engine counts it.
template <Window window>
LW_ALWAYS_INLINE uint64_t place_of(const Warp& warp, uint64_t address) {
  return window == Window::global ? address : address - warp.shared_base;
}
template <Window window>
constexpr order::Space kSpace =
    window == Window::global ? order::Space::kGlobal : order::Space::kShared;

// How the order engine hears of an access: not at all, as one more like the last (order/recall.h),
// or in full. Every handler exists for each, so that the common ones make no calls.
enum class Check : uint8_t { none, recalled, told };

// Lanes in a row from `base` on, `bytes` each.
template <bool is_load, Window window, uint32_t bytes, Check check>
LW_ALWAYS_INLINE bool tell_row(const Op* op, Warp& warp, uint64_t base) {
  order::Warp* const teller = warp.order_warp;  // null in a run without checks
  if constexpr (check == Check::recalled) {
    return order::recall_shared_row<!is_load, std::countr_zero(bytes)>(*teller, base);
  } else if constexpr (check == Check::told && is_load) {
    warp.order->read_contiguous(*teller, op->instruction, warp.active, kSpace<window>, base, bytes);
  } else if constexpr (check == Check::told) {
    warp.machine->values().begin(*op, warp, base, bytes);
    warp.order->write_contiguous(*teller, op->instruction, warp.active, kSpace<window>, base,
                                 bytes);
    warp.machine->values().end();
  }
  return true;
}

template <Window window, uint32_t bytes, Check check>
LW_ALWAYS_INLINE bool tell_uniform(const Op* op, Warp& warp, uint64_t address) {
  order::Warp* const teller = warp.order_warp;  // null in a run without checks
  if constexpr (check == Check::recalled) {
    return order::recall_shared_uniform(*teller, address, bytes);
  } else if constexpr (check == Check::told) {
    warp.order->read_uniform(*teller, op->instruction, warp.active, kSpace<window>, address, bytes);
  }
  return true;
}

template <bool is_load, Window window, class Address>
[[gnu::noinline]] void tell_scattered(const Op& op, Warp& warp, const Address* at, uint32_t bytes,
                                      uint32_t element_bytes) {
  alignas(64) uint64_t places[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) places[lane] = place_of<window>(warp, at[lane]);
  order::Access access;
  access.op = op.instruction;
  access.lanes = warp.active;
  access.space = kSpace<window>;
  access.kind = is_load ? order::Kind::kRead : order::Kind::kWrite;
  access.bytes = static_cast<uint8_t>(bytes);
  access.element_bytes = static_cast<uint8_t>(element_bytes);
  access.at = order::Addresses::each64(places);
  if (!is_load) warp.machine->values().begin(op, warp, places);
  warp.order->access(*warp.order_warp, access);
  warp.machine->values().end();
}

// Are these lanes, each at a place of its own, known to read as the last ones did?
template <bool is_load, Window window, uint32_t bytes, class Address>
LW_ALWAYS_INLINE bool recalls_permuted(Warp& warp, const Address* at, Address low, Address high) {
  if constexpr (is_load && window != Window::global && bytes >= 4) {
    if (!is_whole(warp) || high - low != (kLanes - 1) * bytes) return false;
    return order::recall_shared_permuted<std::countr_zero(bytes)>(
        *warp.order_warp, place_of<window>(warp, low),
        [&](int lane) LW_LAMBDA_INLINE { return static_cast<uint32_t>(at[lane] - low); });
  }
  return false;
}

}  // namespace
}  // namespace lw::machine::LW_SIMD_NAMESPACE
