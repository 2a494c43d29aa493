#pragma once
// The log of a run with watches, from which the story of a race is told: both executions, the last
// synchronisation that both parties follow, what the earlier one released afterwards and what the
// later one acquired. The first run keeps nothing of this. Memory here is proportional to the
// synchronisation of the CTAs and to the accesses that hit a watch, of which the last are kept.

#include <deque>
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
  // The access goes on the log if it touches a watched byte: lanes, or ranges of a copy.
  void access(const Doing& doing, const EachShape& lanes);
  void access(const Doing& doing, std::span<const Range> ranges, CtaId owner);

  // Fills in what a race needs for its story, and keeps that if it is the first of its
  // instructions.
  void tell(const Doing& doing, ObjectId earlier, Race& race, std::vector<Story>& stories);

  // The run is over: what the earlier parties released after their accesses.
  void finish(std::vector<Story>& stories) const;

  template <class Visit>
  void each_id(Visit visit) const {
    for (const Entry& entry : entries_) visit(entry.id);
  }

 private:
  struct Entry {
    ObjectId id;
    Space space;
    uint32_t cta;     // that owns the bytes, if shared
    EachShape lanes;  // no lanes: see ranges
    std::vector<Range> ranges;
    uint32_t execution;
    size_t position;  // steps of its CTA that came before it
  };

  bool is_watched(Space space, uint32_t cta, uint64_t begin, uint64_t end) const;
  void keep(const Doing& doing, uint32_t owner, Entry entry);
  const Entry* entry_of(ObjectId id, const Race& race) const;
  static LaneMask touching(const Entry& entry, uint64_t begin, uint64_t end, LaneMask issuer);
  bool races(const Doing& doing, const Entry& entry, uint64_t begin, uint64_t end,
             LaneMask later) const;
  void add_others(const Doing& doing, const Entry* told, Story& story) const;
  // What raced is checked no longer, so whether lanes of one warp race with other warps too has to
  // be asked here: it decides which edge would help.
  void look_for_other_warp(const Doing& doing, const Entry& now, Story& story) const;
  void add_steps(size_t earlier_position, Story& story) const;

  std::vector<Watch> watches_;
  std::deque<Entry> entries_;
  std::unordered_map<uint32_t, std::vector<SyncStep>> steps_;  // by CTA
};

}  // namespace lw::order
