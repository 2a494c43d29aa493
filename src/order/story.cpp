#include "order/story.h"

#include "order/core.h"

namespace lw::order {

void StoryLog::sync(const Warp& warp, const SyncStep& step) {
  steps_[warp.cta->id].push_back(step);
}

}  // namespace lw::order
