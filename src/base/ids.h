#pragma once
// Ids as distinct types: a warp number cannot be passed where a lane number is meant.

#include <cstdint>
#include <functional>

namespace lw::base {

template <class Tag, class Number = uint32_t>
struct Id {
  Number value = 0;

  constexpr Id() = default;
  constexpr explicit Id(Number number) : value(number) {}
  friend constexpr auto operator<=>(Id, Id) = default;
};

using GridId = Id<struct GridTag>;                 // one launch of the case, in case order
using CtaId = Id<struct CtaTag>;                   // dense over the whole run, all launches
using WarpId = Id<struct WarpTag, uint16_t>;       // inside its CTA
using LaneId = Id<struct LaneTag, uint8_t>;        // inside its warp
using BarrierId = Id<struct BarrierTag, uint8_t>;  // named barrier 0..15 of a CTA
using OpId = Id<struct OpTag>;  // a static instruction: index into the program's instructions,
                                // dense over all kernels of a run
using AsyncId = Id<struct AsyncTag>;  // a dynamic asynchronous operation, dense over the run
using Step =
    Id<struct StepTag, uint64_t>;  // position in the run: events are numbered as they happen

using LaneMask = uint32_t;  // bit i: lane i
inline constexpr int kWarpSize = 32;
inline constexpr LaneMask kAllLanes = 0xffffffffu;

}  // namespace lw::base

template <class Tag, class Number>
struct std::hash<lw::base::Id<Tag, Number>> {
  size_t operator()(lw::base::Id<Tag, Number> id) const { return std::hash<Number>()(id.value); }
};
