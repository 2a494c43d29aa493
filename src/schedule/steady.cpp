// The ordinary schedule. Warps take turns, first of a few instructions each, so that all keep one
// pace as they nearly do on a GPU: what a programmer had in mind then happens in the order he had
// in mind, and a race shows as "this came first, and nothing made it so". Once the beginning is
// over turns get long and a CTA keeps the processor's caches for a while; which order is taken is
// the order engine's business, not this file's.
//
// Asynchronous operations are performed as soon as the turn that issued them is over.

#include <algorithm>
#include <bit>

#include "schedule/chooser.h"

namespace lw::schedule {
namespace {

using machine::AsyncOperation;
using machine::Choice;
using machine::Cta;
using machine::Machine;

// Instructions of the run during which turns are short; enough for several rounds of a loop in
// every warp of an ordinary grid.
constexpr uint64_t kPacedSteps = 1u << 18;
constexpr uint32_t kPacedTurn = 8;
constexpr uint32_t kLongTurn = 1u << 14;
// Rounds over the warps of a CTA before the next CTA has its turn. All its warps may be waiting for
// that one, so there is an end to it.
constexpr uint32_t kRounds = 8;

class Steady final : public Chooser {
 public:
  explicit Steady(std::vector<WarpNames> late) : late_(std::move(late)) {}

  Choice choose(Machine& machine, Holds& holds) override {
    for (AsyncOperation* operation : machine.pending()) {
      if (operation->can_advance() && !holds.keeps(*operation)) return {nullptr, operation};
    }
    const bool paced = machine.steps() < kPacedSteps;
    const uint32_t rounds = paced ? 1 : kRounds;
    machine::Warp* warp = next_warp(machine, rounds, false);
    if (warp == nullptr && !late_.empty()) warp = next_warp(machine, rounds, true);
    return {warp, nullptr, paced ? kPacedTurn : kLongTurn};
  }

 private:
  // The next warp after the cursor, going around; of those that are late or of the others.
  machine::Warp* next_warp(Machine& machine, uint32_t rounds, bool late) {
    const std::span<Cta* const> ctas = machine.resident();
    if (ctas.empty()) return nullptr;
    if (cta_ >= ctas.size()) cta_ = warp_ = round_ = 0;
    for (size_t tries = 0; tries <= ctas.size(); ++tries) {
      Cta& cta = *ctas[cta_];
      const uint32_t ready = late_.empty() ? cta.ready : ready_warps(cta, late_, late);
      const uint32_t ahead = warp_ >= 32 ? 0 : ready & (~uint32_t{0} << warp_);
      if (ahead != 0) return take(cta, ahead);
      if (ready != 0 && ++round_ < rounds) {
        return take(cta, ready);
      }
      if (++cta_ == ctas.size()) cta_ = 0;
      warp_ = round_ = 0;
    }
    return nullptr;
  }

  machine::Warp* take(Cta& cta, uint32_t ready) {
    const auto index = static_cast<uint32_t>(std::countr_zero(ready));
    warp_ = index + 1;
    return &cta.warps[index];
  }

  std::vector<WarpNames> late_;
  size_t cta_ = 0;  // the cursor: index into resident(), next warp, rounds over this CTA
  uint32_t warp_ = 0;
  uint32_t round_ = 0;
};

}  // namespace

uint32_t ready_warps(const Cta& cta, const std::vector<WarpNames>& names, bool late) {
  uint32_t named = 0;
  for (const WarpNames& name : names) named |= name.of(cta.id);
  return cta.ready & (late ? named : ~named);
}

std::unique_ptr<Chooser> steady(std::vector<WarpNames> late) {
  return std::make_unique<Steady>(std::move(late));
}

}  // namespace lw::schedule
