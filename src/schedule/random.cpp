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
  explicit RandomOrder(uint64_t seed) : state_(seed) {}

  Choice choose(Machine& machine, Holds& holds) override {
    operations_.clear();
    for (AsyncOperation* operation : machine.pending()) {
      if (operation->can_advance() && !holds.keeps(*operation)) operations_.push_back(operation);
    }
    uint64_t count = operations_.size();
    for (const Cta* cta : machine.resident())
      count += static_cast<uint64_t>(std::popcount(cta->ready));
    if (count == 0) return {};
    uint64_t pick = draw() % count;
    if (pick < operations_.size()) return {nullptr, operations_[pick]};
    pick -= operations_.size();
    return {ready_warp(machine, pick), nullptr, 1 + static_cast<uint32_t>(draw() % kLongestTurn)};
  }

 private:
  static machine::Warp* ready_warp(Machine& machine, uint64_t pick) {
    for (Cta* cta : machine.resident()) {
      uint32_t ready = cta->ready;
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
  std::vector<AsyncOperation*> operations_;
};

}  // namespace

std::unique_ptr<Chooser> random_order(uint64_t seed) { return std::make_unique<RandomOrder>(seed); }

}  // namespace lw::schedule
