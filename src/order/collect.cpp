// Garbage collection of access objects: mark what the shadow, copies in flight and the story hold,
// sweep the rest. Every cached id must go, or it would name a newer object.

#include <algorithm>

#include "order/core.h"

namespace lw::order {
namespace {

void mark_region(Core& core, Region& region) {
  region.each_touched([&](const Block& block) {
    core.shadow.each_id(block, [&](ObjectId id) { core.objects.mark(id); });
  });
}

}  // namespace

void Core::collect() {
  size_t shadow_bytes = 0;
  for (Region& region : buffers) {
    mark_region(*this, region);
    shadow_bytes += region.bytes();
  }
  for (auto& [sm, region] : tensor_cells) {
    mark_region(*this, region);
    shadow_bytes += region.bytes();
  }
  for (const auto& cta : ctas) {
    if (!cta) continue;
    mark_region(*this, cta->shared);
    for (const TensorAllocation& one : cta->tensor) objects.mark(one.freed);
    for (const auto& warp : cta->warps) {
      warp->cached.fill({});
      warp->last_shape.fill({});
      warp->recall.forget();
    }
  }
  for (const auto& [id, operation] : pending) {
    for (ObjectId object : operation.objects) objects.mark(object);
  }
  if (story) story->each_id([&](ObjectId id) { objects.mark(id); });
  objects.sweep();
  // As many new objects as make up for the walk over the shadow.
  collect_at = std::max({options.collect_at, 2 * objects.live(),
                         objects.live() + shadow_bytes / (4 * sizeof(Block))});
}

}  // namespace lw::order
