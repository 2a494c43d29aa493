// Loads and stores in the shapes that most of them have: lanes side by side, or all at one address.
//
// The shape is tested at every execution, in registers (a few vector instructions); a shape known
// at decode time would not stay right under divergence. Bounds are then two comparisons, and the
// order engine gets a base instead of a list. Everything else, errors included, is general_load's
// and general_store's.

#include "machine/semantics/data_movement/ld_st.h"

#include <bit>
#include <cstring>

#include "machine/cta.h"
#include "machine/machine.h"
#include "machine/semantics/lanes.h"
#include "order/engine.h"

namespace lw::machine::LW_SIMD_NAMESPACE {
namespace {

enum class Window : uint8_t { shared, shared_wide, global };

template <Window window>
using AddressOf = std::conditional_t<window == Window::shared, uint32_t, uint64_t>;

enum class Pattern : uint8_t { contiguous, uniform, other };

// How the running lanes' addresses lie; `stride` is what a lane accesses.
template <Mode mode, class Address>
LW_ALWAYS_INLINE Pattern pattern_of(const Address* a, LaneMask active, uint32_t stride) {
  if constexpr (mode == Mode::full) active = base::kAllLanes;
  int first = mode == Mode::full ? 0 : std::countr_zero(active);
  LaneMask rest = active & (active - 1);
  if (rest == 0) return Pattern::uniform;
  int second = mode == Mode::full ? 1 : std::countr_zero(rest);
  Address step = a[second] - a[first];
  Address wanted = step == 0 ? 0 : static_cast<Address>(stride);
  if (step != wanted * static_cast<Address>(second - first)) return Pattern::other;
  Address base = a[first] - wanted * static_cast<Address>(first);
  Address differs = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    Address difference = a[lane] ^ (base + wanted * static_cast<Address>(lane));
    differs |= mode == Mode::full || has(active, lane) ? difference : 0;
  }
  if (differs != 0) return Pattern::other;
  return wanted == 0 ? Pattern::uniform : Pattern::contiguous;
}

// Full handlers may meet a warp with exited lanes: then there is a mask after all.
LW_ALWAYS_INLINE bool is_whole(const Warp& warp) { return warp.active == base::kAllLanes; }

template <Window window>
LW_ALWAYS_INLINE std::byte* resolve(Warp& warp, uint64_t address, uint64_t bytes) {
  if constexpr (window == Window::global) return warp.machine->memory().resolve(address, bytes);
  uint64_t offset = address - program::kSharedBase;
  if (offset >= warp.shared_bytes || bytes > warp.shared_bytes - offset) return nullptr;
  if (offset < warp.objects_end && offset + bytes > warp.objects_begin) return nullptr;
  return warp.shared + offset;
}

// The address as the order engine counts it.
template <Window window>
LW_ALWAYS_INLINE uint64_t place_of(uint64_t address) {
  return window == Window::global ? address : address - program::kSharedBase;
}
template <Window window>
constexpr order::Space kSpace =
    window == Window::global ? order::Space::kGlobal : order::Space::kShared;

template <Window window>
LW_ALWAYS_INLINE uint64_t displaced(AddressOf<window> address, const Op* op) {
  return static_cast<AddressOf<window>>(address + static_cast<AddressOf<window>>(op->immediate));
}

// Element e of every lane from packed memory to slot e.
template <Mode mode, class T, int elements>
LW_ALWAYS_INLINE void unpack_lanes(const T* from, const Slot* slots, std::byte* registers,
                                   LaneMask active) {
  for (int e = 0; e < elements; ++e)
    write_lanes<mode, T>(lanes_at<T>(registers, slots[e]), active,
                         [&](int lane) LW_LAMBDA_INLINE { return from[lane * elements + e]; });
}

template <Window window, class T, int elements, Mode mode>
LW_ALWAYS_INLINE bool load_contiguous(const Op* op, std::byte* registers, Warp& warp,
                                      const Slot* slots) {
  constexpr uint32_t kBytes = sizeof(T) * elements;
  const auto* a = lanes_at<AddressOf<window>>(registers, op->a);
  int first = mode == Mode::full ? 0 : std::countr_zero(warp.active);
  int last = mode == Mode::full ? kLanes - 1 : 31 - std::countl_zero(warp.active);
  uint64_t address = displaced<window>(a[first], op);
  if (address % kBytes != 0) return false;
  const std::byte* bytes =
      resolve<window>(warp, address, static_cast<uint64_t>(last - first + 1) * kBytes);
  if (bytes == nullptr) return false;
  int64_t before = static_cast<int64_t>(first) * kBytes;
  if (warp.order)
    warp.order->read_contiguous(*warp.order_warp, op->instruction, warp.active, kSpace<window>,
                                place_of<window>(address) - static_cast<uint64_t>(before), kBytes);
  if constexpr (mode == Mode::full) {
    unpack_lanes<mode, T, elements>(reinterpret_cast<const T*>(bytes), slots, registers,
                                    warp.active);
  } else {
    alignas(64) T whole[kLanes * elements];  // bytes beside the running lanes may not exist
    std::memcpy(whole + first * elements, bytes, static_cast<size_t>(last - first + 1) * kBytes);
    unpack_lanes<mode, T, elements>(whole, slots, registers, warp.active);
  }
  return true;
}

template <Window window, class T, int elements, Mode mode>
LW_ALWAYS_INLINE bool load_uniform(const Op* op, std::byte* registers, Warp& warp,
                                   const Slot* slots) {
  constexpr uint32_t kBytes = sizeof(T) * elements;
  const auto* a = lanes_at<AddressOf<window>>(registers, op->a);
  uint64_t address = displaced<window>(a[std::countr_zero(warp.active)], op);
  if (address % kBytes != 0) return false;
  const std::byte* bytes = resolve<window>(warp, address, kBytes);
  if (bytes == nullptr) return false;
  if (warp.order)
    warp.order->read_uniform(*warp.order_warp, op->instruction, warp.active, kSpace<window>,
                             place_of<window>(address), kBytes);
  T value[elements];
  std::memcpy(value, bytes, sizeof value);
  for (int e = 0; e < elements; ++e)
    write_lanes<mode, T>(lanes_at<T>(registers, slots[e]), warp.active,
                         [&](int) LW_LAMBDA_INLINE { return value[e]; });
  return true;
}

template <Window window, class T, int elements, Mode mode>
[[gnu::noinline]] bool try_load(const Op* op, std::byte* registers, Warp& warp) {
  const Slot* slots = elements == 1 ? &op->d : warp.program->more(*op);
  const auto* a = lanes_at<AddressOf<window>>(registers, op->a);
  switch (pattern_of<mode>(a, warp.active, sizeof(T) * elements)) {
    case Pattern::contiguous:
      return load_contiguous<window, T, elements, mode>(op, registers, warp, slots);
    case Pattern::uniform:
      return load_uniform<window, T, elements, mode>(op, registers, warp, slots);
    case Pattern::other:
      return false;
  }
  return false;
}

template <Window window, class T, int elements, Mode mode>
void load(const Op* op, std::byte* registers, Warp& warp) {
  bool done = mode == Mode::full && is_whole(warp)
                  ? try_load<window, T, elements, Mode::full>(op, registers, warp)
                  : try_load<window, T, elements, Mode::masked>(op, registers, warp);
  if (!done) {
    general_load(*op, warp);
    if (warp.stopped) [[unlikely]]
      return;
  }
  return next<mode>(op, registers, warp);
}

template <Window window, class T, int elements, Mode mode>
LW_ALWAYS_INLINE bool store_contiguous(const Op* op, std::byte* registers, Warp& warp,
                                       const Slot* slots) {
  constexpr uint32_t kBytes = sizeof(T) * elements;
  const auto* a = lanes_at<AddressOf<window>>(registers, op->a);
  int first = mode == Mode::full ? 0 : std::countr_zero(warp.active);
  int last = mode == Mode::full ? kLanes - 1 : 31 - std::countl_zero(warp.active);
  uint64_t address = displaced<window>(a[first], op);
  if (address % kBytes != 0) return false;
  std::byte* bytes =
      resolve<window>(warp, address, static_cast<uint64_t>(last - first + 1) * kBytes);
  if (bytes == nullptr) return false;
  if (warp.order) {
    uint64_t base = place_of<window>(address) - static_cast<uint64_t>(first) * kBytes;
    warp.machine->values().begin(*op, warp, base, kBytes);
    warp.order->write_contiguous(*warp.order_warp, op->instruction, warp.active, kSpace<window>,
                                 base, kBytes);
    warp.machine->values().end();
  }
  T* to = reinterpret_cast<T*>(bytes) - first * elements;
  for (int e = 0; e < elements; ++e) {
    const Storage<T>* from = lanes_at<T>(registers, slots[e]);
    if constexpr (mode == Mode::full) {
#pragma GCC ivdep
      for (int lane = 0; lane < kLanes; ++lane) to[lane * elements + e] = unpack<T>(from[lane]);
    } else {
      for (int lane = first; lane <= last; ++lane)
        if (has(warp.active, lane)) to[lane * elements + e] = unpack<T>(from[lane]);
    }
  }
  return true;
}

template <Window window, class T, int elements, Mode mode>
[[gnu::noinline]] bool try_store(const Op* op, std::byte* registers, Warp& warp) {
  const Slot* slots = elements == 1 ? &op->d : warp.program->more(*op);
  const auto* a = lanes_at<AddressOf<window>>(registers, op->a);
  if (pattern_of<mode>(a, warp.active, sizeof(T) * elements) != Pattern::contiguous) return false;
  return store_contiguous<window, T, elements, mode>(op, registers, warp, slots);
}

template <Window window, class T, int elements, Mode mode>
void store(const Op* op, std::byte* registers, Warp& warp) {
  bool done = mode == Mode::full && is_whole(warp)
                  ? try_store<window, T, elements, Mode::full>(op, registers, warp)
                  : try_store<window, T, elements, Mode::masked>(op, registers, warp);
  if (!done) {
    general_store(*op, warp);
    if (warp.stopped) [[unlikely]]
      return;
  }
  return next<mode>(op, registers, warp);
}

template <bool is_load, Window window, class T, int elements>
constexpr Handlers access_handlers() {
  if constexpr (is_load)
    return {&load<window, T, elements, Mode::full>, &load<window, T, elements, Mode::masked>};
  else
    return {&store<window, T, elements, Mode::full>, &store<window, T, elements, Mode::masked>};
}

template <bool is_load, Window window>
Handlers of_elements(const AccessShape& shape) {
  int elements = 1 << shape.vector_log2;
  switch (shape.element_log2) {
    case 1:
      return elements == 1 ? access_handlers<is_load, window, uint16_t, 1>() : Handlers{};
    case 2:
      return elements == 1   ? access_handlers<is_load, window, uint32_t, 1>()
             : elements == 2 ? access_handlers<is_load, window, uint32_t, 2>()
             : elements == 4 ? access_handlers<is_load, window, uint32_t, 4>()
                             : Handlers{};
    case 3:
      return elements == 1   ? access_handlers<is_load, window, uint64_t, 1>()
             : elements == 2 ? access_handlers<is_load, window, uint64_t, 2>()
                             : Handlers{};
    default:
      return {};
  }
}

template <bool is_load>
Handlers of_window(const AccessShape& shape) {
  bool plain = shape.strength == order::Strength::kWeak && !shape.sign_extend &&
               shape.wide_register == (shape.element_log2 == 3);
  if (!plain) return {};
  if (shape.space == AccessSpace::global && shape.wide_address)
    return of_elements<is_load, Window::global>(shape);
  if (shape.space != AccessSpace::shared) return {};
  return shape.wide_address ? of_elements<is_load, Window::shared_wide>(shape)
                            : of_elements<is_load, Window::shared>(shape);
}

}  // namespace

Handlers hot_load(const AccessShape& shape) { return of_window<true>(shape); }
Handlers hot_store(const AccessShape& shape) { return of_window<false>(shape); }

}  // namespace lw::machine::LW_SIMD_NAMESPACE
