#pragma once
// What an asynchronous operation of a thread does to shared or global memory, for copies (bulk.cpp)
// and for the shared operands of tcgen05 operations (tensor.cpp).

#include "order/check.h"

namespace lw::order {

// Makes the object, checks its ranges and records it. It ends with `count` of `component`.
ObjectId touch_ranges(Core& core, Warp& warp, const Deed& deed, LaneId lane,
                      const AsyncAccess& access, Component component, uint32_t count);

}  // namespace lw::order
