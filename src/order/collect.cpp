// Garbage collection of access objects: mark what the shadow, copies in flight and the story hold,
// sweep the rest. Every cached id must go, or it would name a newer object.

#include <algorithm>

#include "order/core.h"

namespace lw::order {
namespace {

void mark_region(Core& core, const Region& region) {
  for (uint64_t i = 0; i < region.blocks; ++i) {
    core.shadow.each_id(region.block[i], [&](ObjectId id) { core.objects.mark(id); });
  }
}

}  // namespace

void Core::collect() {
  for (const Region& region : buffers) mark_region(*this, region);
  for (const auto& cta : ctas) {
    if (!cta) continue;
    mark_region(*this, cta->shared);
    for (const auto& warp : cta->warps) warp->cached.fill({});
  }
  for (const auto& [id, operation] : pending) {
    for (ObjectId object : operation.objects) objects.mark(object);
  }
  objects.sweep();
  collect_at = std::max<size_t>(options.collect_at, 2 * objects.live());
}

}  // namespace lw::order
