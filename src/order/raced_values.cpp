#include "order/raced_values.h"

#include "order/core.h"

namespace lw::order {
namespace {

// Some of these lanes knows, in C, of some lane of the read.
bool has_heard(const Core& core, const Warp& warp, LaneMask lanes, uint32_t cta, uint32_t by,
               LaneMask readers, uint32_t epoch) {
  if (cta != warp.cta->id && core.grid_is_over(*warp.cta, cta)) return true;
  const bool own = cta == warp.cta->id && by == warp.index;
  for (const LaneGroup& group : warp.groups) {
    if ((group.lanes & lanes) == 0) continue;
    const Clock* clock = group.bundle.clock(View::kControl);
    if (clock != nullptr && cta != warp.cta->id) clock = clock->foreign(cta);
    LaneMask known = clock == nullptr ? 0 : clock->lanes_at_least(by, epoch);
    if (own) known |= group.met_in(View::kControl).at_least(epoch);
    if ((known & readers) != 0) return true;
  }
  return false;
}

}  // namespace

void RacedValues::add(const Party& party, uint64_t serial) {
  const auto [at, is_new] = first_.try_emplace({party.cta.value, party.warp.value},
                                               Read{party.op, party.lanes, party.epoch, serial});
  Read& read = at->second;
  read.lanes |= party.lanes;
  if (is_new || party.epoch >= read.epoch) return;
  read.op = party.op;
  read.epoch = party.epoch;
}

void RacedValues::add(const Race& race, uint64_t serial) {
  const bool nobody_reads = race.earlier.kind == Kind::kWrite && race.later.kind == Kind::kWrite;
  // What two writes leave is read by somebody who comes after both.
  if (race.earlier.kind != Kind::kWrite || nobody_reads) add(race.earlier, serial);
  if (race.later.kind != Kind::kWrite || nobody_reads) add(race.later, serial);
}

bool RacedValues::comes_after(const Core& core, const Party& party, uint64_t serial, const Who& who,
                              const Read& read) {
  if (Who{party.cta.value, party.warp.value} == who && (party.lanes & read.lanes) != 0) {
    const bool is_itself = party.op == read.op && party.epoch == read.epoch;
    return !is_itself && party.epoch >= read.epoch && serial > read.serial;
  }
  const Cta* cta = core.ctas[party.cta.value].get();
  if (cta == nullptr) return true;  // it is gone, and its clocks with it
  return has_heard(core, *cta->warps[party.warp.value], party.lanes, who.first, who.second,
                   read.lanes, read.epoch);
}

bool RacedValues::lead_to(const Core& core, const Race& race) const {
  for (const auto& [who, read] : first_) {
    if (comes_after(core, race.earlier, race.serial, who, read) ||
        comes_after(core, race.later, race.serial, who, read))
      return true;
  }
  return false;
}

bool RacedValues::reach(const Core& core, const Warp& warp, LaneMask lanes) const {
  for (const auto& [who, read] : first_) {
    const bool own = Who{warp.cta->id, warp.index} == who;
    if ((own && (read.lanes & lanes) != 0) ||
        has_heard(core, warp, lanes, who.first, who.second, read.lanes, read.epoch))
      return true;
  }
  return false;
}

}  // namespace lw::order
