// Loads and stores in the shapes that most of them have: lanes side by side, or all at one address;
// and those that go anywhere within one buffer or shared memory.
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
#include "machine/semantics/data_movement/quads.h"
#include "machine/semantics/data_movement/tell.h"
#include "machine/semantics/lanes.h"

namespace lw::machine::LW_SIMD_NAMESPACE {
namespace {

enum class Pattern : uint8_t { contiguous, uniform, other };

// How the running lanes' addresses lie, if each accesses `bytes` bytes.
template <uint32_t bytes, Mode mode, class Address>
LW_ALWAYS_INLINE Pattern pattern_of(const Address* a, LaneMask active) {
  int first = mode == Mode::full ? 0 : std::countr_zero(active);
  LaneMask rest = active & (active - 1);
  if (mode == Mode::masked && rest == 0) return Pattern::uniform;
  int second = mode == Mode::full ? 1 : std::countr_zero(rest);
  Address step = a[second] - a[first];
  if (step == static_cast<Address>(second - first) * bytes)
    return is_row<bytes, mode>(a, active, a[first] - static_cast<Address>(first) * bytes)
               ? Pattern::contiguous
               : Pattern::other;
  if (step == 0 && is_row<0, mode>(a, active, a[first])) return Pattern::uniform;
  return Pattern::other;
}

template <Window window>
LW_ALWAYS_INLINE std::byte* resolve(Warp& warp, uint64_t address, uint64_t bytes) {
  if constexpr (window == Window::global) return warp.memory->peek(address, bytes);
  uint64_t offset = address - warp.shared_base;
  if (offset >= warp.shared_bytes || bytes > warp.shared_bytes - offset) return nullptr;
  if (offset < warp.objects_end && offset + bytes > warp.objects_begin) return nullptr;
  return warp.shared + offset;
}

template <Window window>
LW_ALWAYS_INLINE uint64_t displaced(AddressOf<window> address, const Op* op) {
  return static_cast<AddressOf<window>>(address + static_cast<AddressOf<window>>(op->immediate));
}

// Lane i's elements are side by side in memory and each in a slot of its own. All elements of a
// lane in one round of the loop: the compiler then permutes whole vectors.
template <class T, int elements>
LW_ALWAYS_INLINE void unpack_row(const T* from, const Slot* slots, std::byte* registers) {
  Storage<T>* d[elements];
  for (int e = 0; e < elements; ++e) d[e] = lanes_at<T>(registers, slots[e]);
#pragma GCC ivdep
  for (int lane = 0; lane < kLanes; ++lane) {
    d[0][lane] = from[lane * elements];
    if constexpr (elements > 1) d[1][lane] = from[lane * elements + 1];
    if constexpr (elements > 2) d[2][lane] = from[lane * elements + 2];
    if constexpr (elements > 3) d[3][lane] = from[lane * elements + 3];
  }
}
template <class T, int elements>
LW_ALWAYS_INLINE void pack_row(T* to, const Slot* slots, std::byte* registers) {
  const Storage<T>* a[elements];
  for (int e = 0; e < elements; ++e) a[e] = lanes_at<T>(registers, slots[e]);
#pragma GCC ivdep
  for (int lane = 0; lane < kLanes; ++lane) {
    to[lane * elements] = unpack<T>(a[0][lane]);
    if constexpr (elements > 1) to[lane * elements + 1] = unpack<T>(a[1][lane]);
    if constexpr (elements > 2) to[lane * elements + 2] = unpack<T>(a[2][lane]);
    if constexpr (elements > 3) to[lane * elements + 3] = unpack<T>(a[3][lane]);
  }
}

// The first running lane's address and the span of all of them, side by side; null if any of it is
// misaligned or outside.
struct Row {
  int first = 0;
  int last = kLanes - 1;
  uint64_t address = 0;
  std::byte* bytes = nullptr;
};
template <Window window, uint32_t bytes, Mode mode>
LW_ALWAYS_INLINE Row find_row(const Op* op, std::byte* registers, Warp& warp) {
  const auto* a = lanes_at<AddressOf<window>>(registers, op->a);
  Row row;
  if constexpr (mode == Mode::masked) {
    row.first = std::countr_zero(warp.active);
    row.last = 31 - std::countl_zero(warp.active);
  }
  row.address = displaced<window>(a[row.first], op);
  if (row.address % bytes == 0)
    row.bytes =
        resolve<window>(warp, row.address, static_cast<uint64_t>(row.last - row.first + 1) * bytes);
  return row;
}

// What became of an access that was tried.
enum class Outcome : uint8_t {
  done,
  scattered,  // another pattern, or something is wrong
  untold,     // the order engine must be told in full
};

template <Window window, class T, int elements, Mode mode, Check check>
LW_ALWAYS_INLINE Outcome load_contiguous(const Op* op, std::byte* registers, Warp& warp,
                                         const Slot* slots) {
  constexpr uint32_t kBytes = sizeof(T) * elements;
  Row row = find_row<window, kBytes, mode>(op, registers, warp);
  if (row.bytes == nullptr) return Outcome::scattered;
  const uint64_t base =
      place_of<window>(warp, row.address) - static_cast<uint64_t>(row.first) * kBytes;
  if (!tell_row<true, window, kBytes, check>(op, warp, base)) return Outcome::untold;
  if constexpr (mode == Mode::full) {
    unpack_row<T, elements>(reinterpret_cast<const T*>(row.bytes), slots, registers);
  } else {
    alignas(64) T whole[kLanes * elements];  // bytes beside the running lanes may not exist
    std::memcpy(whole + row.first * elements, row.bytes,
                static_cast<size_t>(row.last - row.first + 1) * kBytes);
    for (int e = 0; e < elements; ++e)
      write_lanes<mode, T>(lanes_at<T>(registers, slots[e]), warp.active,
                           [&](int lane) LW_LAMBDA_INLINE { return whole[lane * elements + e]; });
  }
  return Outcome::done;
}

template <Window window, class T, int elements, Mode mode, Check check>
LW_ALWAYS_INLINE Outcome load_uniform(const Op* op, std::byte* registers, Warp& warp,
                                      const Slot* slots) {
  constexpr uint32_t kBytes = sizeof(T) * elements;
  const auto* a = lanes_at<AddressOf<window>>(registers, op->a);
  int first = mode == Mode::full ? 0 : std::countr_zero(warp.active);
  uint64_t address = displaced<window>(a[first], op);
  if (address % kBytes != 0) return Outcome::scattered;
  const std::byte* bytes = resolve<window>(warp, address, kBytes);
  if (bytes == nullptr) return Outcome::scattered;
  if (!tell_uniform<window, kBytes, check>(op, warp, place_of<window>(warp, address)))
    return Outcome::untold;
  const T* from = reinterpret_cast<const T*>(bytes);
  for (int e = 0; e < elements; ++e) {
    T value = from[e];
    write_lanes<mode, T>(lanes_at<T>(registers, slots[e]), warp.active,
                         [&](int) LW_LAMBDA_INLINE { return value; });
  }
  return Outcome::done;
}

template <Window window, class T, int elements, Mode mode, Check check>
LW_ALWAYS_INLINE Outcome try_load(const Op* op, std::byte* registers, Warp& warp) {
  const Slot* slots = elements == 1 ? &op->d : warp.program->more(*op);
  const auto* a = lanes_at<AddressOf<window>>(registers, op->a);
  switch (pattern_of<sizeof(T) * elements, mode>(a, warp.active)) {
    case Pattern::contiguous:
      return load_contiguous<window, T, elements, mode, check>(op, registers, warp, slots);
    case Pattern::uniform:
      return load_uniform<window, T, elements, mode, check>(op, registers, warp, slots);
    case Pattern::other:
      return Outcome::scattered;
  }
  return Outcome::scattered;
}

template <Window window, class T, int elements, Mode mode, Check check>
LW_ALWAYS_INLINE Outcome store_contiguous(const Op* op, std::byte* registers, Warp& warp,
                                          const Slot* slots) {
  constexpr uint32_t kBytes = sizeof(T) * elements;
  Row row = find_row<window, kBytes, mode>(op, registers, warp);
  if (row.bytes == nullptr) return Outcome::scattered;
  const uint64_t base =
      place_of<window>(warp, row.address) - static_cast<uint64_t>(row.first) * kBytes;
  if (!tell_row<false, window, kBytes, check>(op, warp, base)) return Outcome::untold;
  T* to = reinterpret_cast<T*>(row.bytes) - row.first * elements;
  if constexpr (mode == Mode::full) {
    pack_row<T, elements>(to, slots, registers);
  } else {
    for (int e = 0; e < elements; ++e) {
      const Storage<T>* from = lanes_at<T>(registers, slots[e]);
      for (int lane = row.first; lane <= row.last; ++lane)
        if (has(warp.active, lane)) to[lane * elements + e] = unpack<T>(from[lane]);
    }
  }
  return Outcome::done;
}

template <Window window, class T, int elements, Mode mode, Check check>
LW_ALWAYS_INLINE Outcome try_store(const Op* op, std::byte* registers, Warp& warp) {
  const Slot* slots = elements == 1 ? &op->d : warp.program->more(*op);
  const auto* a = lanes_at<AddressOf<window>>(registers, op->a);
  if (pattern_of<sizeof(T) * elements, mode>(a, warp.active) != Pattern::contiguous)
    return Outcome::scattered;
  return store_contiguous<window, T, elements, mode, check>(op, registers, warp, slots);
}

template <bool is_load, Window window, class T, int elements, Mode mode, Check check>
LW_ALWAYS_INLINE Outcome try_access(const Op* op, std::byte* registers, Warp& warp) {
  if constexpr (is_load)
    return try_load<window, T, elements, mode, check>(op, registers, warp);
  else
    return try_store<window, T, elements, mode, check>(op, registers, warp);
}

// Lanes anywhere in one buffer, or in shared memory. Lanes that do not run get the address of one
// that does, so that whole vectors can be loaded.
template <bool is_load, Window window, class T, int elements>
[[gnu::noinline]] bool try_scattered(const Op* op, std::byte* registers, Warp& warp) {
  using Address = AddressOf<window>;
  constexpr uint32_t kBytes = sizeof(T) * elements;
  const auto* a = lanes_at<Address>(registers, op->a);
  const auto add = static_cast<Address>(op->immediate);
  const Address first = a[std::countr_zero(warp.active)] + add;
  alignas(64) Address at[kLanes];
  Address low = first, high = first, all = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    at[lane] = has<Address>(warp.active, lane) ? a[lane] + add : first;
    low = at[lane] < low ? at[lane] : low;
    high = at[lane] > high ? at[lane] : high;
    all |= at[lane];
  }
  if ((all & (kBytes - 1)) != 0) return false;
  std::byte* bytes = resolve<window>(warp, low, uint64_t{high} - low + kBytes);
  if (bytes == nullptr) return false;
  if (warp.order && !recalls_permuted<is_load, window, kBytes>(warp, at, low, high))
    tell_scattered<is_load, window>(*op, warp, at, kBytes, sizeof(T));
  const Slot* slots = elements == 1 ? &op->d : warp.program->more(*op);
  if (elements == 4 && sizeof(T) == 4 && is_whole(warp)) {
    move_quads<is_load, Address>(bytes, at, low, slots, registers);
    return true;
  }
  for (int e = 0; e < elements; ++e) {
    Storage<T>* slot = lanes_at<T>(registers, slots[e]);
    T* element = reinterpret_cast<T*>(bytes) + e;
    auto offset = [&](int lane) LW_LAMBDA_INLINE { return (at[lane] - low) / sizeof(T); };
    if constexpr (is_load) {
      write_lanes<Mode::masked, T>(
          slot, warp.active, [&](int lane) LW_LAMBDA_INLINE { return element[offset(lane)]; });
    } else {
      for (int lane = 0; lane < kLanes; ++lane)
        if (has(warp.active, lane)) element[offset(lane)] = unpack<T>(slot[lane]);
    }
  }
  return true;
}

template <bool is_load, Mode mode>
[[gnu::noinline]] void access_in_general(const Op* op, std::byte* registers, Warp& warp) {
  if constexpr (is_load)
    general_load(*op, warp);
  else
    general_store(*op, warp);
  if (warp.stopped) [[unlikely]]
    return;
  return next<mode>(op, registers, warp);
}

template <bool is_load, Window window, class T, int elements, Mode mode>
[[gnu::noinline]] void access_scattered(const Op* op, std::byte* registers, Warp& warp) {
  if (!try_scattered<is_load, window, T, elements>(op, registers, warp))
    return access_in_general<is_load, mode>(op, registers, warp);
  return next<mode>(op, registers, warp);
}

// Not every lane runs: a row of its own on the stack, so not part of a handler.
template <bool is_load, Window window, class T, int elements, Check check>
[[gnu::noinline]] bool try_masked(const Op* op, std::byte* registers, Warp& warp) {
  return try_access<is_load, window, T, elements, Mode::masked, check>(op, registers, warp) ==
         Outcome::done;
}
template <bool is_load, Window window, class T, int elements, Mode mode>
[[gnu::noinline]] void access_some(const Op* op, std::byte* registers, Warp& warp) {
  bool done = warp.order
                  ? try_masked<is_load, window, T, elements, Check::told>(op, registers, warp)
                  : try_masked<is_load, window, T, elements, Check::none>(op, registers, warp);
  if (!done) return access_scattered<is_load, window, T, elements, mode>(op, registers, warp);
  return next<mode>(op, registers, warp);
}

template <bool is_load, Window window, class T, int elements, Check check>
[[gnu::noinline]] void access_checked(const Op* op, std::byte* registers, Warp& warp) {
  switch (try_access<is_load, window, T, elements, Mode::full, check>(op, registers, warp)) {
    case Outcome::done:
      return next<Mode::full>(op, registers, warp);
    case Outcome::scattered:
      return access_scattered<is_load, window, T, elements, Mode::full>(op, registers, warp);
    case Outcome::untold:
      break;
  }
  return access_checked<is_load, window, T, elements, Check::told>(op, registers, warp);
}

template <bool is_load, Window window, class T, int elements>
void access_all(const Op* op, std::byte* registers, Warp& warp) {
  constexpr bool kRecalls = window != Window::global && sizeof(T) * elements >= 4;
  constexpr Check kFirst = kRecalls ? Check::recalled : Check::told;
  if (!is_whole(warp)) [[unlikely]]
    return access_some<is_load, window, T, elements, Mode::full>(op, registers, warp);
  if (warp.order) return access_checked<is_load, window, T, elements, kFirst>(op, registers, warp);
  if (try_access<is_load, window, T, elements, Mode::full, Check::none>(op, registers, warp) !=
      Outcome::done)
    return access_scattered<is_load, window, T, elements, Mode::full>(op, registers, warp);
  return next<Mode::full>(op, registers, warp);
}

template <bool is_load, Window window, class T, int elements>
constexpr Handlers access_handlers() {
  return {&access_all<is_load, window, T, elements>,
          &access_some<is_load, window, T, elements, Mode::masked>};
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
  if (shape.space != AccessSpace::shared && shape.space != AccessSpace::shared_cluster) return {};
  return shape.wide_address ? of_elements<is_load, Window::shared_wide>(shape)
                            : of_elements<is_load, Window::shared>(shape);
}

}  // namespace

Handlers hot_load(const AccessShape& shape) { return of_window<true>(shape); }
Handlers hot_store(const AccessShape& shape) { return of_window<false>(shape); }

}  // namespace lw::machine::LW_SIMD_NAMESPACE
