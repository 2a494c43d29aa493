#include "order/views.h"

namespace lw::order {

BundleRef join(const BundleRef& base, const BundleRef& more, ViewSet views) {
  if (base == more || more.get() == nullptr) return base;
  std::array<ClockRef, kViews> joined;
  bool same_as_base = true;
  bool same_as_more = true;
  for (int v = 0; v < kViews; ++v) {
    const ClockRef& mine = base.view(static_cast<View>(v));
    const ClockRef& theirs = more.view(static_cast<View>(v));
    const bool wanted = (views >> v & 1) != 0;
    // Equal views are joined once, so that they stay one clock.
    int twin = 0;
    while (twin < v && !(mine == base.view(static_cast<View>(twin)) &&
                         theirs == more.view(static_cast<View>(twin)) &&
                         wanted == ((views >> twin & 1) != 0))) {
      ++twin;
    }
    joined[v] = twin < v ? joined[twin] : wanted ? join(mine, theirs) : mine;
    same_as_base &= joined[v] == mine;
    same_as_more &= joined[v] == theirs;
  }
  if (same_as_base && base.get() != nullptr) return base;
  if (same_as_more) return more;
  return BundleRef(new Bundle{0, std::move(joined)});
}

BundleRef with_view(const BundleRef& base, View view, const ClockRef& clock) {
  if (base.view(view) == clock) return base;
  auto* next = new Bundle;
  for (int v = 0; v < kViews; ++v) next->clock[v] = base.view(static_cast<View>(v));
  next->clock[static_cast<int>(view)] = clock;
  return BundleRef(next);
}

}  // namespace lw::order
