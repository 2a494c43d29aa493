// Threads of one warp (rule book 3; bar.warp.sync, PTX ISA 9.7.13.2).
//
// Only bar.warp.sync orders memory between lanes (W-1). The other `.sync` collectives make the
// lanes meet, which passes control and nothing else (W-2): it decides which arrivals can be early
// (D-2 to D-4), never whether data is visible. A meeting of lanes of which none has done or met
// anything since the whole warp met tells nobody anything.

#include "order/core.h"

namespace lw::order {
namespace {

// One group that covers the warp, and nothing but steps to tell.
bool is_simple(const Warp& warp, LaneMask lanes) {
  return warp.groups.size() == 1 && warp.is_whole(lanes) && !warp.async;
}

}  // namespace

void Engine::warp_sync(Warp& warp, OpId op, LaneMask lanes) {
  core_->log_sync(warp, SyncStep::Kind::kWarpSync, op, lanes, 0, 0);
  if (!is_simple(warp, lanes)) return meet(warp, publish(warp, lanes));
  LaneGroup& group = warp.groups.front();
  group.met[0].raise_all(warp.count);
  group.met[1].raise_all(group.fenced[0]);
  group.met[2].raise_all(group.fenced[1]);
  group.met[3].raise_all(warp.count);
  warp.since_access = warp.since_control = 0;
  warp.met_access = warp.met_control = warp.count++;
}

void Engine::warp_meet(Warp& warp, LaneMask lanes) {
  if ((warp.since_control & lanes) == 0) return;
  if (!is_simple(warp, lanes)) {
    return meet_control(warp, publish(warp, lanes, view_bit(View::kControl)));
  }
  warp.groups.front().met_in(View::kControl).raise_all(warp.count);
  warp.since_control = 0;
  warp.met_control = warp.count++;
}

}  // namespace lw::order
