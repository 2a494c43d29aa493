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
  bool knows(const Race& race) const { return race_index_.contains(key_of(race)); }
  // A load of cells of the CTA that races with their dealloc follows this write.
  void brought(OpId write, OpId free, CtaId cta, uint64_t begin, uint64_t end);
  void unforced(const Unforced& fact);
  void error(const PlainError& fact);
  void unwritten(const Unwritten& fact);
  void not_modelled(OpId op, RuleId rule);
  void relied_on_practice(RuleId rule) { facts_.practice.insert(rule); }

  // Some arrival released nothing: what is known in C only may be known through it (MB-8).
  void saw_arrival(bool releases) {
    arrival_ = true;
    relaxed_arrival_ |= !releases;
  }
  void saw_cluster_arrival(bool releases) { relaxed_cluster_ |= !releases; }
  bool any_relaxed_cluster() const { return relaxed_cluster_; }
  void saw_wait(bool acquires) { relaxed_wait_ |= !acquires; }
  bool any_relaxed_wait() const { return relaxed_wait_; }
  bool any_arrival() const { return arrival_; }
  bool any_relaxed_arrival() const { return relaxed_arrival_; }

  // At the end: which findings another matching, or a race before them, may have led to.
  void settle();
  Facts& facts() { return facts_; }
  const Facts& facts() const { return facts_; }

 private:
  using RaceKey = std::tuple<uint32_t, uint32_t, Space, RuleId, Tier, Path>;
  static RaceKey key_of(const Race& race) {
    return {
        race.earlier.op.value, race.later.op.value, race.space, race.rule, race.tier, race.path};
  }
  using UnreadKey = std::tuple<uint32_t, uint32_t, uint32_t>;
  static UnreadKey unread_key(OpId write, OpId free, CtaId cta) {
    return {write.value, free.value, cta.value};
  }
  bool is_implied(const RaceGroup& group) const;
  using PlaceKey = std::tuple<RuleId, uint32_t, uint32_t, uint32_t>;

  Facts facts_;
  bool arrival_ = false;
  bool relaxed_arrival_ = false;
  bool relaxed_wait_ = false;
  bool relaxed_cluster_ = false;
  std::map<RaceKey, size_t> race_index_;
  std::vector<uint64_t> race_serial_;  // of each group: the last access that added to it
  // Cells freed while nothing orders a write of them before that, and no load brings it.
  std::map<UnreadKey, std::vector<Interval>> unread_;
  std::map<PlaceKey, size_t> unforced_index_;
  std::map<std::pair<RuleId, uint32_t>, size_t> error_index_;
  std::map<uint32_t, size_t> unwritten_index_;
  std::map<std::pair<RuleId, uint32_t>, size_t> not_modelled_index_;
};

}  // namespace lw::order
