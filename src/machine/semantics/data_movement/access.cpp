#include "machine/semantics/data_movement/access.h"

#include <fmt/format.h>

#include <cstring>

#include "machine/cta.h"
#include "machine/each_lane.h"
#include "machine/machine.h"
#include "machine/semantics/cluster_site.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

using base::LaneMask;

// The addresses of one instruction.
struct Lanes {
  std::array<uint64_t, base::kWarpSize> address{};  // as the instruction has it
  std::array<uint64_t, base::kWarpSize> place{};    // device address, or offset in shared memory
};

void read_addresses(const Op& op, const Warp& warp, bool wide, Lanes& lanes) {
  for_each_lane(warp.active, [&](int lane) {
    // A 32-bit register addresses a window of 4 GiB: the sum wraps there.
    lanes.address[lane] =
        wide ? warp.lanes<uint64_t>(op.a)[lane] + op.immediate
             : static_cast<uint32_t>(warp.lanes<uint32_t>(op.a)[lane] + op.immediate);
  });
}

bool check_alignment(const Op& op, Warp& warp, const Lanes& lanes, uint32_t bytes) {
  LaneMask bad = 0;
  for_each_lane(warp.active, [&](int lane) {
    if (lanes.address[lane] & (bytes - 1)) bad |= 1u << lane;
  });
  if (bad == 0) return true;
  warp.fail_at(op, FaultKind::misaligned,
               fmt::format("an address is not a multiple of the {} bytes accessed", bytes), bad,
               lanes.address[std::countr_zero(bad)], bytes);
  return false;
}

class Resolver {
 public:
  Resolver(const Op& op, Warp& warp, const AccessShape& shape, order::Kind kind, bool result_live,
           LaneBytes& bytes)
      : op_(op),
        warp_(warp),
        shape_(shape),
        kind_(kind),
        result_live_(result_live),
        bytes_(bytes),
        owner_(warp.cta) {}

  bool run() {
    read_addresses(op_, warp_, shape_.wide_address, lanes_);
    return resolve();
  }
  bool run_at(const LaneAddresses& addresses) {
    lanes_.address = addresses;
    is_ordinary_ = false;
    return resolve();
  }

 private:
  bool resolve() {
    if (!check_alignment(op_, warp_, lanes_, shape_.bytes())) return false;
    if (shape_.space == AccessSpace::generic) return resolve_generic();
    if (shape_.space == AccessSpace::shared_cluster) return resolve_cluster(warp_.active, 0);
    return resolve(shape_.space, warp_.active, 0);
  }

  // Lanes may point into different windows.
  bool resolve_generic() {
    bool ok = true;
    auto kind = [&](int lane) { return Memory::kind(lanes_.address[lane]); };
    for_each_value(warp_.active, kind, [&](RegionKind region, LaneMask lanes) {
      ok = ok && resolve_region(region, lanes);
    });
    return ok;
  }
  bool resolve_region(RegionKind region, LaneMask lanes) {
    switch (region) {
      case RegionKind::global:
        return resolve(AccessSpace::global, lanes, 0);
      case RegionKind::shared:
        return resolve_cluster(lanes, Memory::kSharedWindow);
      case RegionKind::local:
        return resolve(AccessSpace::local, lanes, Memory::kLocalWindow);
      case RegionKind::constant:
        return resolve(AccessSpace::constant, lanes, Memory::kConstantWindow);
      case RegionKind::param:
        return resolve(AccessSpace::param, lanes, Memory::kParamWindow);
      case RegionKind::none:
        return outside(lanes, "no memory");
    }
    return false;
  }

  // Lanes may point into the memory of different CTAs.
  bool resolve_cluster(LaneMask lanes, uint64_t window) {
    bool ok = true;
    auto rank = [&](int lane) { return rank_of(lanes_.address[lane] - window); };
    for_each_value(lanes, rank, [&](uint64_t owner, LaneMask there) {
      ok = ok && find_owner(owner, there) && resolve(AccessSpace::shared, there, window);
    });
    owner_ = warp_.cta;
    return ok;
  }
  bool find_owner(uint64_t rank, LaneMask lanes) {
    owner_ = warp_.cta;
    if (rank == owner_->cluster_rank || owner_->cluster.size() == 1) return true;
    owner_ = cta_of_rank(op_, warp_, rank, lanes);
    return owner_ != nullptr;
  }

  bool resolve(AccessSpace space, LaneMask lanes, uint64_t window) {
    LaneMask bad = 0;
    LaneMask on_object = 0;
    const uint64_t base = window + (space == AccessSpace::shared ? owner_->shared_base() : 0);
    for_each_lane(lanes, [&](int lane) {
      lanes_.place[lane] = lanes_.address[lane] - base;
      bytes_.at[lane] = find(space, lanes_.place[lane], lane);
      if (bytes_.at[lane] == nullptr)
        bad |= 1u << lane;
      else if (space == AccessSpace::shared && is_on_object(lanes_.place[lane]))
        on_object |= 1u << lane;
    });
    if (bad != 0) return outside(bad, name(space));
    if (on_object != 0) return touches_object(on_object);
    if (kind_ != order::Kind::kRead &&
        (space == AccessSpace::constant || space == AccessSpace::param))
      return read_only(lanes, name(space));
    if (warp_.order) tell(space, lanes);
    return true;
  }

  std::byte* find(AccessSpace space, uint64_t place, int lane) {
    uint64_t size = shape_.bytes();
    switch (space) {
      case AccessSpace::global:
        return warp_.machine->memory().resolve(place, size);
      case AccessSpace::shared:
        return owner_->shared_bytes(place, size);
      case AccessSpace::local:
        return inside({warp_.local + size_t(lane) * warp_.local_bytes, warp_.local_bytes}, place);
      case AccessSpace::constant:
        return inside(warp_.machine->constants(), place);
      case AccessSpace::param:
        return inside(warp_.cta->launch->request.parameters, place);
      case AccessSpace::generic:
      case AccessSpace::shared_cluster:
        break;
    }
    return nullptr;
  }
  std::byte* inside(std::span<std::byte> window, uint64_t place) const {
    if (place >= window.size() || shape_.bytes() > window.size() - place) return nullptr;
    return window.data() + place;
  }

  std::string_view name(AccessSpace space) const {
    if (owner_ != warp_.cta) return "the shared memory of the other CTA";
    constexpr std::string_view kNames[] = {"",
                                           "any buffer of global memory",
                                           "the CTA's shared memory",
                                           "the thread's local memory",
                                           "the constant bank",
                                           "the kernel's parameters"};
    return kNames[static_cast<size_t>(space)];
  }

  bool outside(LaneMask lanes, std::string_view where) {
    warp_.fail_at(op_, FaultKind::out_of_bounds,
                  fmt::format("{} bytes are accessed outside {}", shape_.bytes(), where), lanes,
                  lanes_.address[std::countr_zero(lanes)], shape_.bytes());
    return false;
  }
  // No ordinary access may touch a live mbarrier object (rule MB-33).
  bool is_on_object(uint64_t offset) const {
    return owner_->sync.mbarriers.overlapping(static_cast<uint32_t>(offset), shape_.bytes()) !=
           nullptr;
  }
  bool touches_object(LaneMask lanes) {
    warp_.fail_at(op_, FaultKind::mbarrier_misuse,
                  "an ordinary access touches a live mbarrier object", lanes,
                  lanes_.address[std::countr_zero(lanes)], shape_.bytes(), diagnose::RuleId::kE3);
    return false;
  }
  bool read_only(LaneMask lanes, std::string_view where) {
    warp_.fail_at(op_, FaultKind::out_of_bounds, fmt::format("a write to {}", where), lanes,
                  lanes_.address[std::countr_zero(lanes)], shape_.bytes());
    return false;
  }

  void tell(AccessSpace space, LaneMask lanes) {
    if (space != AccessSpace::global && space != AccessSpace::shared) return;
    order::Access access;
    access.op = op_.instruction;
    access.lanes = lanes;
    access.space = space == AccessSpace::shared ? order::Space::kShared : order::Space::kGlobal;
    access.kind = kind_;
    access.strength = shape_.strength;
    access.scope = shape_.scope;
    access.bytes = static_cast<uint8_t>(shape_.bytes());
    access.element_bytes = static_cast<uint8_t>(shape_.element_bytes());
    access.result_live = result_live_;
    access.poll = shape_.poll;
    access.at = order::Addresses::each64(lanes_.place.data());
    if (owner_ != warp_.cta) access.cta = owner_->id;
    if (!is_ordinary_)
      warp_.machine->values().begin(op_, warp_);
    else if (kind_ == order::Kind::kWrite)
      warp_.machine->values().begin(op_, warp_, lanes_.place.data(), owner_);
    warp_.order->access(*warp_.order_warp, access);
    warp_.machine->values().end();
  }

  const Op& op_;
  Warp& warp_;
  const AccessShape& shape_;
  order::Kind kind_;
  bool result_live_;
  bool is_ordinary_ = true;
  LaneBytes& bytes_;
  Lanes lanes_;
  Cta* owner_;  // of the shared memory that is looked at
};

// The element at `from`, extended to 64 bits.
uint64_t load_element(const std::byte* from, uint32_t bytes, bool sign_extend) {
  uint64_t value = 0;
  std::memcpy(&value, from, bytes);
  if (!sign_extend || bytes == 8) return value;
  uint32_t shift = 64 - 8 * bytes;
  return static_cast<uint64_t>(static_cast<int64_t>(value << shift) >> shift);
}

void write_register(const Warp& warp, Slot slot, bool wide, int lane, uint64_t value) {
  if (wide) {
    warp.lanes<uint64_t>(slot)[lane] = value;
  } else {
    warp.lanes<uint32_t>(slot)[lane] = static_cast<uint32_t>(value);
  }
}

uint64_t read_register(const Warp& warp, Slot slot, bool wide, int lane) {
  return wide ? warp.lanes<uint64_t>(slot)[lane] : warp.lanes<uint32_t>(slot)[lane];
}

}  // namespace

// Strengths of loads that poll, beyond those of order::Strength.
constexpr unsigned kPollRelaxed = 5;
constexpr unsigned kPollAcquire = 6;

uint16_t AccessShape::encode() const {
  const unsigned polling = strength == order::Strength::kAcquire ? kPollAcquire : kPollRelaxed;
  const unsigned code = poll ? polling : static_cast<unsigned>(strength);
  return static_cast<uint16_t>(
      static_cast<unsigned>(space) | wide_address << 3 | element_log2 << 4 | vector_log2 << 7 |
      sign_extend << 9 | wide_register << 10 | code << 11 | static_cast<unsigned>(scope) << 14);
}

AccessShape AccessShape::decode(uint16_t detail) {
  AccessShape shape;
  shape.space = static_cast<AccessSpace>(detail & 7);
  shape.wide_address = detail >> 3 & 1;
  shape.element_log2 = detail >> 4 & 7;
  shape.vector_log2 = detail >> 7 & 3;
  shape.sign_extend = detail >> 9 & 1;
  shape.wide_register = detail >> 10 & 1;
  const unsigned code = detail >> 11 & 7;
  shape.poll = code >= kPollRelaxed;
  shape.strength = code == kPollAcquire   ? order::Strength::kAcquire
                   : code == kPollRelaxed ? order::Strength::kRelaxed
                                          : static_cast<order::Strength>(code);
  shape.scope = static_cast<order::Scope>(detail >> 14 & 3);
  return shape;
}

bool locate(const Op& op, Warp& warp, const AccessShape& shape, order::Kind kind, LaneBytes& bytes,
            bool result_live) {
  return Resolver(op, warp, shape, kind, result_live, bytes).run();
}

bool locate_at(const Op& op, Warp& warp, const AccessShape& shape, order::Kind kind,
               const LaneAddresses& addresses, LaneBytes& bytes) {
  return Resolver(op, warp, shape, kind, true, bytes).run_at(addresses);
}

void general_load(const Op& op, Warp& warp) {
  AccessShape shape = AccessShape::decode(op.detail);
  LaneBytes bytes;
  if (!locate(op, warp, shape, order::Kind::kRead, bytes)) return;
  const Slot* slots = element_slots(op, warp);
  uint32_t step = std::min(shape.element_bytes(), 8u);  // b128 elements stand in two slots
  uint32_t count = shape.bytes() / step;
  bool wide = shape.wide_register || step == 8;
  for_each_lane(warp.active, [&](int lane) {
    for (uint32_t i = 0; i < count; ++i)
      write_register(warp, slots[i], wide, lane,
                     load_element(bytes.at[lane] + i * step, step, shape.sign_extend));
  });
}

void general_store(const Op& op, Warp& warp) {
  AccessShape shape = AccessShape::decode(op.detail);
  LaneBytes bytes;
  if (!locate(op, warp, shape, order::Kind::kWrite, bytes)) return;
  const Slot* slots = element_slots(op, warp);
  uint32_t step = std::min(shape.element_bytes(), 8u);
  uint32_t count = shape.bytes() / step;
  bool wide = shape.wide_register || step == 8;
  for_each_lane(warp.active, [&](int lane) {
    for (uint32_t i = 0; i < count; ++i) {
      uint64_t value = read_register(warp, slots[i], wide, lane);
      std::memcpy(bytes.at[lane] + i * step, &value, step);
    }
  });
}

}  // namespace lw::machine
