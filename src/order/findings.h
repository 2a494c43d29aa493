#pragma once
// Collects what the engine finds, grouped as facts.h says.

#include <map>
#include <tuple>

#include "order/facts.h"

namespace lw::order {

class Findings {
 public:
  // A racing stretch of one access, the `serial`-th of the run, against one earlier one.
  void race(const Race& race, uint64_t serial);
  void unforced(const Unforced& fact);
  void error(const PlainError& fact);
  void unwritten(const Unwritten& fact);
  void not_modelled(OpId op, RuleId rule);
  void relied_on_practice(RuleId rule) { facts_.practice.insert(rule); }

  // Some arrival released nothing: what is known in C only may be known through it (MB-8).
  void saw_relaxed_arrival() { relaxed_arrival_ = true; }
  bool any_relaxed_arrival() const { return relaxed_arrival_; }

  bool any_unforced() const { return !facts_.unforced.empty(); }
  Facts& facts() { return facts_; }
  const Facts& facts() const { return facts_; }

 private:
  using RaceKey = std::tuple<uint32_t, uint32_t, Space, RuleId, Tier, Path>;
  using PlaceKey = std::tuple<RuleId, uint32_t, uint32_t, uint32_t>;

  Facts facts_;
  bool relaxed_arrival_ = false;
  std::map<RaceKey, size_t> race_index_;
  std::vector<uint64_t> race_serial_;  // of each group: the last access that added to it
  std::map<PlaceKey, size_t> unforced_index_;
  std::map<std::pair<RuleId, uint32_t>, size_t> error_index_;
  std::map<uint32_t, size_t> unwritten_index_;
  std::map<std::pair<RuleId, uint32_t>, size_t> not_modelled_index_;
};

}  // namespace lw::order
