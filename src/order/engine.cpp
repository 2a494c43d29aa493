#include "order/engine.h"

#include "order/core.h"

namespace lw::order {

Engine::Engine(Options options, const Values* values)
    : core_(std::make_unique<Core>(std::move(options), values)) {}

Engine::~Engine() = default;

const Facts& Engine::finish() {
  for (auto& [key, word] : core_->words) settle_polls(*core_, word, key);
  core_->findings.settle();
  if (core_->story) core_->story->finish(core_->findings.facts().stories);
  return core_->findings.facts();
}

const Facts& Engine::facts() const { return core_->findings.facts(); }

uint64_t Engine::memory_bytes() const {
  uint64_t bytes = core_->objects.bytes() + core_->shadow.bytes();
  for (const Region& buffer : core_->buffers) bytes += buffer.bytes();
  for (const auto& cta : core_->ctas) {
    if (cta) bytes += cta->shared.bytes() + cta->warps.size() * sizeof(Warp);
  }
  return bytes;
}

}  // namespace lw::order
