#pragma once
// Walking over the lanes of a mask, one by one or in groups that agree on something.

#include <bit>

#include "base/ids.h"

namespace lw::machine {

template <class Body>
inline void for_each_lane(base::LaneMask lanes, Body body) {
  for (; lanes != 0; lanes &= lanes - 1) body(std::countr_zero(lanes));
}

// Calls `body(value, lanes)` for each distinct `value(lane)`, in order of the first lane that has
// it. Most instructions that ask have one value in all lanes.
template <class Value, class Body>
inline void for_each_value(base::LaneMask lanes, Value value, Body body) {
  while (lanes != 0) {
    const auto first = value(std::countr_zero(lanes));
    base::LaneMask same = 0;
    for_each_lane(lanes, [&](int lane) {
      if (value(lane) == first) same |= 1u << lane;
    });
    body(first, same);
    lanes &= ~same;
  }
}

}  // namespace lw::machine
