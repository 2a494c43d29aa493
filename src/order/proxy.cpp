// Proxy fences (rule book 9; PTX ISA 9.7.13.4).
//
// fence.proxy.async carries all that the fencing lane knows, its own accesses included, to the
// async proxy, for the spaces of its suffix (PX-8, PX-9), and helps paths through this lane only
// (PX-14).

#include <algorithm>

#include "order/core.h"

namespace lw::order {
namespace {

void carry(Warp& warp, LaneMask lanes, int space, View view) {
  for (LaneGroup& group : warp.groups) {
    if ((group.lanes & lanes) == 0) continue;
    group.bundle = with_view(group.bundle, view, group.bundle.view(View::kCausality));
    group.met_in(view) = group.met_in(View::kCausality);
    group.fenced[space] = warp.count;
  }
  if (!warp.async) return;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (lanes >> lane & 1) warp.async->fenced_copies[space][lane] = warp.async->copied.done[lane];
  }
}

}  // namespace

void Engine::fence_proxy_async(Warp& warp, LaneMask lanes, FenceSpaces spaces) {
  warp.split(lanes);
  const auto covered = static_cast<uint8_t>(spaces);
  if (covered & static_cast<uint8_t>(FenceSpaces::kShared))
    carry(warp, lanes, 0, View::kAsyncShared);
  if (covered & static_cast<uint8_t>(FenceSpaces::kGlobal))
    carry(warp, lanes, 1, View::kAsyncGlobal);
  ++warp.count;  // later accesses of the same epoch would count as fenced
}

}  // namespace lw::order
