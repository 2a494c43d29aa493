// Any warp and any asynchronous operation that can run, each as likely as the others, for a turn of
// 1 to 64 instructions. The generator is splitmix64, so a seed means the same everywhere.

#include <bit>

#include "schedule/chooser.h"

namespace lw::schedule {
namespace {

using machine::AsyncOperation;
using machine::Choice;
using machine::Cta;
using machine::Machine;

constexpr uint32_t kLongestTurn = 64;

class RandomOrder final : public Chooser {
 public:
  RandomOrder(uint64_t seed, std::vector<WarpNames> late) : state_(seed), late_(std::move(late)) {}

  Choice choose(Machine& machine, Holds& holds) override {
    operations_.clear();
    for (AsyncOperation* operation : machine.pending()) {
      if (operation->can_advance() && !holds.keeps(*operation)) operations_.push_back(operation);
    }
    bool late = false;
    uint64_t warps = count_ready(machine, late);
    if (warps == 0 && operations_.empty()) warps = count_ready(machine, late = true);
    const uint64_t count = operations_.size() + warps;
    if (count == 0) return {};
    uint64_t pick = draw() % count;
    if (pick < operations_.size()) return {nullptr, operations_[pick]};
    pick -= operations_.size();
    return {ready_warp(machine, pick, late), nullptr,
            1 + static_cast<uint32_t>(draw() % kLongestTurn)};
  }

 private:
  uint64_t count_ready(const Machine& machine, bool late) const {
    uint64_t count = 0;
    for (const Cta* cta : machine.resident())
      count += static_cast<uint64_t>(std::popcount(ready_warps(*cta, late_, late)));
    return count;
  }

  machine::Warp* ready_warp(Machine& machine, uint64_t pick, bool late) const {
    for (Cta* cta : machine.resident()) {
      uint32_t ready = ready_warps(*cta, late_, late);
      const auto here = static_cast<uint64_t>(std::popcount(ready));
      if (pick >= here) {
        pick -= here;
        continue;
      }
      for (; pick > 0; --pick) ready &= ready - 1;
      return &cta->warps[static_cast<size_t>(std::countr_zero(ready))];
    }
    return nullptr;
  }

  uint64_t draw() {
    state_ += 0x9e3779b97f4a7c15ull;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

  uint64_t state_;
  std::vector<WarpNames> late_;
  std::vector<AsyncOperation*> operations_;
};

}  // namespace

std::unique_ptr<Chooser> random_order(uint64_t seed, std::vector<WarpNames> late) {
  return std::make_unique<RandomOrder>(seed, std::move(late));
}

}  // namespace lw::schedule
