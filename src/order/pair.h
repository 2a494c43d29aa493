#pragma once
// One earlier access against the lanes that do the later one: in which view is it known?

#include <array>

#include "order/check.h"

namespace lw::order {

class Pair {
 public:
  Pair(const Doing& doing, const Object& earlier);

  // Is the access of the earlier lanes before what the later lanes do, in this view?
  bool ordered(View view, LaneMask earlier, LaneMask later);
  // The same, by a path that crosses a barrier of the CTA: not by meeting inside the warp alone.
  bool crosses_barrier(LaneMask earlier, LaneMask later);
  // Each of the later lanes knows all of it; `by_barrier`: by paths that cross a barrier.
  bool whole(View view, LaneMask later);
  bool whole_by_barrier(LaneMask later) const;

 private:
  static constexpr int kMaxGroups = kWarpSize;
  using Known = std::array<LaneMask, kMaxGroups>;  // per group: the earlier lanes that are known

  const Known& known(View view);
  bool is_all(LaneMask known) const;
  LaneMask known_by_clock(const LaneGroup& group, View view) const;
  bool did_itself(const LaneGroup& group, View view, int lane) const;
  bool group_knows(const LaneGroup& group, View view, LaneMask known, LaneMask earlier,
                   LaneMask later) const;

  const Doing& doing_;
  const Object& earlier_;
  bool same_cta_;
  bool same_warp_;
  std::array<bool, kViews> computed_{};
  std::array<Known, kViews> known_;
};

}  // namespace lw::order
