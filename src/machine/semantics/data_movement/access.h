#pragma once
// A memory access of a warp: its description in an Op, and the general way to its bytes.
//
// `detail` of a load, store or atomic Op says what is accessed; `a` is the slot of the addresses,
// `immediate` what is added to them. The fast handlers of ld_st.simd.cpp do the common shapes
// themselves and come here for the rest, and for errors: this is where bounds, alignment and
// windows are judged lane by lane.

#include <array>
#include <cstdint>

#include "machine/warp.h"
#include "order/event.h"
#include "program/decoder.h"

namespace lw::machine {

// shared_cluster: of any CTA of the cluster.
enum class AccessSpace : uint8_t {
  generic,
  global,
  shared,
  local,
  constant,
  param,
  shared_cluster
};

struct AccessShape {
  AccessSpace space = AccessSpace::generic;
  bool wide_address = false;  // the address is in a 64-bit slot
  uint8_t element_log2 = 2;   // bytes of an element: 1 to 16
  uint8_t vector_log2 = 0;    // elements of a lane: 1 to 8
  bool sign_extend = false;
  bool wide_register = false;  // elements stand in 64-bit slots
  order::Strength strength = order::Strength::kWeak;
  order::Scope scope = order::Scope::kGpu;
  bool poll = false;  // of a strong load

  uint32_t element_bytes() const { return 1u << element_log2; }
  uint32_t elements() const { return 1u << vector_log2; }
  uint32_t bytes() const { return element_bytes() * elements(); }

  uint16_t encode() const;
  static AccessShape decode(uint16_t detail);
};

// Where the lanes of one access go.
struct LaneBytes {
  std::array<std::byte*, base::kWarpSize> at;  // of lanes that run
};

// Resolves the addresses of the running lanes, tells the order engine of the access, and gives the
// bytes. Returns false after reporting a fault. `kind` is what the access does to memory.
// `result_live`: whether the value read goes anywhere (a reduction's does not).
bool locate(const Op& op, Warp& warp, const AccessShape& shape, order::Kind kind, LaneBytes& bytes,
            bool result_live = true);

// The same for addresses that the instruction works out itself. What a store will leave is not
// known to the order engine then.
using LaneAddresses = std::array<uint64_t, base::kWarpSize>;
bool locate_at(const Op& op, Warp& warp, const AccessShape& shape, order::Kind kind,
               const LaneAddresses& addresses, LaneBytes& bytes);

void general_load(const Op& op, Warp& warp);
void general_store(const Op& op, Warp& warp);

// The parts of a shape that the modifiers of an instruction say.
AccessSpace access_space(const program::Decoder& decoder, const program::Address& address);
order::Scope access_scope(const program::Decoder& decoder, order::Scope otherwise);
uint8_t access_vector_log2(const program::Decoder& decoder);

// The slots of an Op's elements: `d` alone, or the list at `more`.
inline const Slot* element_slots(const Op& op, const Warp& warp) {
  return op.extra == 0 ? &op.d : warp.program->more(op);
}

}  // namespace lw::machine
