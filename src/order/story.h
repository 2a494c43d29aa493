#pragma once
// The log of a run with watches, from which the story of a race is told: both executions, the last
// synchronisation that both parties follow, what the earlier one released afterwards and what the
// later one acquired. The first run keeps nothing of this; memory here is proportional to the
// synchronisation of the CTAs and to the accesses that hit a watch.

#include <unordered_map>
#include <vector>

#include "order/facts.h"
#include "order/object.h"

namespace lw::order {

struct Core;
struct Warp;
struct Doing;

class StoryLog {
 public:
  explicit StoryLog(std::vector<Watch> watches) : watches_(std::move(watches)) {}

  void sync(const Warp& warp, const SyncStep& step);

 private:
  std::vector<Watch> watches_;
  std::unordered_map<uint32_t, std::vector<SyncStep>> steps_;  // by CTA
};

}  // namespace lw::order
