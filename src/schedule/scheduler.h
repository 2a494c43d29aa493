#pragma once
// The machine's policy: a chooser, and holds on top of it.

#include <memory>
#include <utility>
#include <vector>

#include "machine/policy.h"
#include "schedule/chooser.h"
#include "schedule/holds.h"

namespace lw::schedule {

class Scheduler final : public machine::Policy {
 public:
  explicit Scheduler(std::unique_ptr<Chooser> chooser, std::vector<Hold> holds = {},
                     std::vector<base::OpId> also_watched = {})
      : chooser_(std::move(chooser)),
        holds_(std::move(holds)),
        also_watched_(std::move(also_watched)) {}

  machine::Choice next(machine::Machine& machine) override {
    holds_.attach(machine);
    return chooser_->choose(machine, holds_);
  }

  std::vector<base::OpId> watched() const override {
    std::vector<base::OpId> ops = holds_.watched();
    ops.insert(ops.end(), also_watched_.begin(), also_watched_.end());
    return ops;
  }

  base::LaneMask reach(machine::Warp& warp, base::OpId instruction, uint64_t n,
                       base::LaneMask lanes) override {
    return holds_.reach(warp, instruction, n, lanes);
  }

  void passed(machine::Warp& warp, base::OpId instruction, uint64_t n,
              base::LaneMask lanes) override {
    holds_.passed(warp, instruction, n, lanes);
  }

  void performed(const machine::AsyncOperation& operation, machine::Milestone milestone) override {
    holds_.performed(operation, milestone);
  }

  bool stuck(machine::Machine& machine) override {
    holds_.attach(machine);
    return holds_.let_one_go();
  }

  const Holds& holds() const { return holds_; }

 private:
  std::unique_ptr<Chooser> chooser_;
  Holds holds_;
  std::vector<base::OpId> also_watched_;  // so that executions are counted
};

}  // namespace lw::schedule
