#include "order/check.h"

#include "order/judge.h"
#include "order/pair.h"
#include "order/tensor.h"

namespace lw::order {
namespace {

// How far one cell of a pair is ordered; nothing: all the way.
struct CellPath {
  bool ordered = false;
  Path path = Path::kNone;
  bool in_warp = false;
};

View async_view(Space space) {
  return space == Space::kShared ? View::kAsyncShared : View::kAsyncGlobal;
}

bool needs_fence(const Doing& doing, const Object& earlier) {
  return doing.async_proxy && !earlier.async_proxy;
}

// Is a lane's part of the read ordered in H, but by its own warp alone and with no proxy fence?
// That is worse than what only E orders.
bool lacks_fence_in_warp(Pair& pair, const Doing& doing, LaneMask x, LaneMask y) {
  for (LaneMask rest = x; rest != 0; rest &= rest - 1) {
    const LaneMask lane = rest & -rest;
    if (pair.ordered(View::kCausality, lane, y) && !pair.crosses_barrier(lane, y) &&
        !pair.ordered(async_view(doing.space), lane, y))
      return true;
  }
  return false;
}

CellPath path_of(Pair& pair, const Doing& doing, const Object& earlier, LaneMask x, LaneMask y) {
  if (pair.ordered(View::kCausality, x, y)) {
    if (!needs_fence(doing, earlier) || pair.ordered(async_view(doing.space), x, y))
      return {true, Path::kNone, false};
    return {false, Path::kNoProxyFence, !pair.crosses_barrier(x, y)};
  }
  if (pair.ordered(View::kExecution, x, y)) {
    if (!earlier.writes() && needs_fence(doing, earlier) && lacks_fence_in_warp(pair, doing, x, y))
      return {false, Path::kNoProxyFence, true};
    return {false, Path::kExecution, false};
  }
  const bool control = pair.ordered(View::kControl, x, y);
  return {false, control ? Path::kControl : Path::kNone, false};
}

// Neighbouring cells with one verdict are one stretch.
struct Stretch {
  Verdict verdict;
  Path path = Path::kNone;
  int begin = 0;
  int end = 0;
  LaneMask earlier = 0;
  LaneMask later = 0;
};

void report(const Doing& doing, ObjectId id, const Cells& cells, const Stretch& stretch) {
  const Object& earlier = doing.core.objects[id];
  Race race;
  race.rule = stretch.verdict.rule;
  race.tier = stretch.verdict.tier;
  race.path = stretch.path;
  race.space = doing.space;
  race.earlier = party_of(earlier, stretch.earlier);
  race.later = party_of(doing.core.objects[doing.id], stretch.later);
  race.owner = CtaId{doing.place().id};
  race.address = cells.address(stretch.begin);
  race.bytes = static_cast<uint32_t>(stretch.end - stretch.begin) << cells.shift;
  race.implied = doing.implied;
  if (doing.core.values != nullptr) race.later.execution = doing.core.values->execution();
  if (doing.core.story)
    doing.core.story->tell(doing, id, race, doing.core.findings.facts().stories);
  doing.core.report_race(race, doing.serial);
}

// Do both stores leave the same bytes (M-22)?
bool same_value(const Doing& doing, const Object& earlier, const Cells& cells, int cell) {
  const Object& later = doing.core.objects[doing.id];
  return doing.core.values != nullptr && earlier.agent == Agent::kLanes &&
         later.agent == Agent::kLanes && earlier.kind == Kind::kWrite &&
         later.kind == Kind::kWrite &&
         doing.core.values->store_keeps(cells.address(cell), 1u << cells.shift);
}

// Adds a cell to the stretch before it or reports that and begins another.
class Stretches {
 public:
  Stretches(const Doing& doing, ObjectId earlier, const Cells& cells)
      : doing_(doing), earlier_(earlier), cells_(cells) {}
  ~Stretches() { flush(); }
  Stretches(const Stretches&) = delete;
  Stretches& operator=(const Stretches&) = delete;

  void add(int cell, Verdict verdict, Path path, LaneMask earlier, LaneMask later) {
    if (now_.end != cell || now_.verdict.rule != verdict.rule || now_.path != path ||
        now_.verdict.tier != verdict.tier) {
      flush();
      now_ = {verdict, path, cell, cell, earlier, later};
    }
    now_.end = cell + 1;
  }

 private:
  void flush() {
    if (now_.end > now_.begin) report(doing_, earlier_, cells_, now_);
    now_ = {};
  }

  const Doing& doing_;
  ObjectId earlier_;
  const Cells& cells_;
  Stretch now_;
};

// Of two grids it is the edge between them that is missing.
RuleId grids_rule(const Doing& doing, const Object& earlier) {
  const uint32_t grid = doing.core.grid_of_cta[earlier.cta];
  if (grid == doing.warp.cta->grid) return RuleId::kM4;
  return doing.core.is_early(doing.warp.cta->grid, grid) ? RuleId::kG4 : RuleId::kG8;
}

CellMask check_cells(const Doing& doing, ObjectId id, Pair& pair, const Cells& cells) {
  const Object& earlier = doing.core.objects[id];
  const Object& later = doing.core.objects[doing.id];
  Stretches stretches(doing, id, cells);
  CellMask raced = 0;
  for (CellMask rest = cells.mask; rest != 0; rest &= rest - 1) {
    const int cell = __builtin_ctz(rest);
    const LaneMask x = doing.core.objects.lanes_at(earlier, cells.address(cell));
    const LaneMask y = doing.lanes_at(cells.address(cell));
    const CellPath path = path_of(pair, doing, earlier, x, y);
    if (path.ordered) continue;
    if (path.path != Path::kNone && !needs_fence(doing, earlier) &&
        is_observed(doing, earlier, cells.address(cell), x, y))
      continue;
    Verdict verdict = doing.space == Space::kTensor
                          ? judge_tensor(doing, earlier, path.path)
                          : judge(earlier, later, doing.space, path.path, path.in_warp);
    if (verdict.rule == RuleId::kM4) verdict.rule = grids_rule(doing, earlier);
    // Without a relaxed arrival it is a release that does not cover the access (another lane's,
    // say).
    if (verdict.rule == RuleId::kMB8 && !doing.core.findings.any_relaxed_arrival())
      verdict.rule = RuleId::kMB7;
    // And without mbarriers it is a flag.
    if (verdict.rule == RuleId::kK3 && !doing.core.findings.any_relaxed_cluster())
      verdict.rule = RuleId::kM12;
    const bool by_mbarrier = verdict.rule == RuleId::kMB7 || verdict.rule == RuleId::kMB11;
    if (by_mbarrier && !doing.core.findings.any_arrival()) verdict.rule = RuleId::kM12;
    if (verdict.tier == Tier::kRace && same_value(doing, earlier, cells, cell)) {
      verdict = {Tier::kNote, RuleId::kM22};
    }
    if (path.path == Path::kControl && is_classic_last_block(doing, earlier, x, y))
      verdict = {Tier::kNote, RuleId::kF15};
    stretches.add(cell, verdict, path.path, x, y);
    if (verdict.tier == Tier::kRace) raced |= 1u << cell;
  }
  return raced;
}

// All of the earlier access is ordered before every lane that does the later one. A missing proxy
// fence that shipped practice does without counts as ordered unless strict edges are asked for.
bool is_ordered_for_lanes(const Doing& doing, const Object& earlier, Pair& pair) {
  const LaneMask later = doing.lanes & doing.warp.live;
  if (!needs_fence(doing, earlier)) return pair.whole(View::kCausality, later);
  if (pair.whole(async_view(doing.space), later)) return true;
  const Object& now = doing.core.objects[doing.id];
  const Verdict verdict = judge(earlier, now, doing.space, Path::kNoProxyFence, false);
  if (doing.core.options.strict || verdict.tier != Tier::kStrict) return false;
  if (!pair.whole_by_barrier(later)) return false;
  doing.core.findings.relied_on_practice(verdict.rule);
  return true;
}

void report_special(const Doing& doing, ObjectId earlier, const Cells& cells) {
  const Object& later = doing.core.objects[doing.id];
  const uint64_t first = cells.address(__builtin_ctz(cells.mask));
  const Party party = party_of(later, doing.lanes_at(first));
  if (earlier == kMbarrier) {
    const bool is_live = is_surely_live(doing.warp, doing.lanes_at(first), first);
    doing.core.findings.error({RuleId::kMB33, party, doing.space, first, 0, doing.serial, is_live});
  } else if (later.kind != Kind::kWrite) {
    const uint64_t bytes = static_cast<uint64_t>(__builtin_popcount(cells.mask)) << cells.shift;
    doing.core.findings.unwritten({party, doing.space, first, bytes});
  }
}

}  // namespace

namespace {

// Every lane of the warp knows every lane's part of it; not to be seen at once where lanes differ.
bool knows_all(const Warp& warp, const Object& earlier) {
  if (warp.groups.size() != 1) return false;
  const Clock* const clock =
      clock_of(warp.groups.front().bundle.clock(View::kCausality), warp.cta->id, earlier.home);
  return clock != nullptr && clock->all_lanes(earlier.component) >= earlier.count;
}

}  // namespace

bool learns_ordered(Objects& objects, const Warp& warp, ObjectId id) {
  if (id < kFirstObject) return false;
  const auto known = [&](ObjectId one) {
    const Object& earlier = objects[one];
    return earlier.cta == warp.cta->id &&
           ((objects.key(one).ordered & warp.bit) != 0 || knows_all(warp, earlier));
  };
  if (!objects.each_reader(id, known)) return false;
  objects.key(id).ordered |= warp.bit;
  return true;
}

uint32_t memo_bit(const Doing& doing, const Object& earlier) {
  const bool has_bits = doing.space == Space::kShared || earlier.cta == doing.warp.cta->id;
  return has_bits ? doing.bit() : 0;
}

bool is_ordered_for_good(const Doing& doing, ObjectId id) {
  ObjectKey& key = doing.core.objects.key(id);
  const Object& earlier = doing.core.objects[id];
  const Cta& own = *doing.warp.cta;
  const bool is_near =
      doing.space == Space::kGlobal ? earlier.cta == own.id : earlier.cluster == own.cluster;
  if (!is_near) return doing.core.grid_is_over(own, earlier.cta);
  const uint32_t bit = memo_bit(doing, earlier);
  if ((key.ordered & bit) != 0) return true;
  if (!knows_all(doing.warp, earlier) && !Pair(doing, earlier).whole(View::kCausality, kAllLanes))
    return false;
  key.ordered |= bit;
  return true;
}

bool is_ordered_whole(const Doing& doing, ObjectId id) {
  return is_ordered(doing, doing.core.objects.key(id)) || is_ordered_for_good(doing, id);
}

bool follows_by_itself(const Doing& doing, ObjectId earlier) {
  return doing.space == Space::kTensor &&
         pipelined(doing, doing.core.objects[earlier]) == Pipelined::kYes;
}

bool is_settled(const Doing& doing, ObjectId id) {
  if (doing.remembers(id)) return true;
  const Object& earlier = doing.core.objects[id];
  if (morally_strong(earlier, doing.core.objects[doing.id])) return true;
  if (follows_by_itself(doing, id)) {
    doing.remember(id);
    return true;
  }
  if (earlier.cta != doing.warp.cta->id && doing.core.grid_is_over(*doing.warp.cta, earlier.cta)) {
    return true;
  }
  if (!needs_fence(doing, earlier) && is_ordered_whole(doing, id)) return true;
  Pair pair(doing, earlier);
  if (!is_ordered_for_lanes(doing, earlier, pair)) return false;
  doing.remember(id);
  return true;
}

CellMask ordered_cells(const Doing& doing, ObjectId id, const Cells& cells) {
  if (cells.mask == 0 || is_settled(doing, id)) return cells.mask;
  const Object& earlier = doing.core.objects[id];
  Pair pair(doing, earlier);
  CellMask ordered = 0;
  for (CellMask rest = cells.mask; rest != 0; rest &= rest - 1) {
    const int cell = __builtin_ctz(rest);
    const LaneMask x = doing.core.objects.lanes_at(earlier, cells.address(cell));
    const LaneMask y = doing.lanes_at(cells.address(cell));
    if (path_of(pair, doing, earlier, x, y).ordered) ordered |= 1u << cell;
  }
  return ordered;
}

CellMask check_pair(const Doing& doing, ObjectId id, const Cells& cells) {
  if (cells.mask == 0 || id == kInitial || id == kRaced) return 0;
  if (id < kFirstObject) {
    report_special(doing, id, cells);
    return 0;
  }
  if (is_settled(doing, id)) return 0;
  Pair pair(doing, doing.core.objects[id]);
  return check_cells(doing, id, pair, cells);
}

}  // namespace lw::order
