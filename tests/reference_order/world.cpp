#include "world.h"

#include <fmt/format.h>

#include <algorithm>

namespace lw::reference_order {
namespace {

constexpr RuleId kConditions[] = {RuleId::kD2, RuleId::kD3, RuleId::kD3b, RuleId::kD4, RuleId::kD5};

uint32_t count_lanes(LaneMask lanes) { return static_cast<uint32_t>(__builtin_popcount(lanes)); }

template <class Visit>
void each_lane(LaneMask lanes, Visit visit) {
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) visit(__builtin_ctz(rest));
}

// What is found does not depend on whether instructions are told apart: every other program.
Options options_of(uint64_t seed, bool strict, size_t collect_at, RaceSink* sink) {
  Options options;
  options.by_instruction = seed % 2 == 0;
  options.strict = strict;
  options.sink = sink;
  options.collect_at = collect_at;
  return options;
}

}  // namespace

World::World(uint64_t seed, bool strict, size_t collect_at, bool partial_warp)
    : random_(seed),
      engine_(options_of(seed, strict, collect_at, this)),
      reference_(strict),
      partial_warp_(partial_warp),
      strict_(strict) {
  engine_.declare_buffer(kGlobalBase, kGlobalBytes);
}

void World::race(const Race& race) {
  if (race.rule == RuleId::kK8) return;  // the end of a CTA is not made up here
  if (race.rule == RuleId::kMB1 || race.rule == RuleId::kMB3) {
    ++init_races_;
    return;
  }
  if (race.rule == RuleId::kMB4) {
    if (race.tier == Tier::kRace) inval_races_.insert(instruction_);
    return;
  }
  auto& found = race.tier == Tier::kRace ? races_ : strict_found_;
  if (race.tier != Tier::kRace && race.tier != Tier::kStrict) return;
  const bool global = race.space == Space::kGlobal;
  const bool tensor = race.space == Space::kTensor;
  const uint32_t owner = global ? 0 : tensor ? kTensorOwner : race.owner.value;
  for (uint32_t i = 0; i < race.bytes; i += tensor ? TensorCell::kBytes : 1) {
    const bool used = TensorCell::at(race.address + i).column % kSlotColumns < kUsedColumns;
    if (tensor && !used) continue;
    const std::tuple key{instruction_, global, owner, race.address + i};
    const auto [at, is_new] = found.try_emplace(key, static_cast<int>(race.path));
    at->second = std::min(at->second, static_cast<int>(race.path));
  }
}

void World::next_event(std::string text) {
  ++instruction_;
  reference_.begin_instruction(instruction_);
  trace.push_back(fmt::format("{}: {}", instruction_, text));
}

void World::begin_grid(bool early, bool clustered) {
  const uint32_t grid = grids_begun_++;
  std::vector<GridId> over, depends;
  for (uint32_t earlier : ended_) over.push_back(GridId{earlier});
  std::set<uint32_t>& all = grid_over_[grid];
  all = {ended_.begin(), ended_.end()};
  if (early && !running_.empty()) {
    depends.push_back(GridId{running_.back()});
    early_[grid] = running_.back();
    all.insert(grid_over_[running_.back()].begin(), grid_over_[running_.back()].end());
  }
  engine_.begin_grid(GridId{grid}, over, depends);
  reference_.begin_grid(grid, {all.begin(), all.end()});
  running_.push_back(grid);
  for (uint32_t cta = grid * kCtasPerGrid; cta < (grid + 1) * kCtasPerGrid; ++cta) {
    const uint32_t threads = partial_warp_ ? kLanesPerCta - 12 : kLanesPerCta;
    engine_.begin_cta(CtaId{cta}, GridId{grid}, threads, kSharedBytes + 8 * kObjects);
    reference_.begin_cta(cta, grid);
    for (int warp = 0; warp < kWarps; ++warp) {
      live_[{cta, warp}] = partial_warp_ && warp == kWarps - 1 ? kAllLanes >> 12 : kAllLanes;
    }
    for (int i = 0; i < kObjects; ++i) {
      objects_[{cta, i}].cta = cta;
      objects_[{cta, i}].offset = kSharedBytes + 8u * static_cast<uint32_t>(i);
    }
  }
  if (clustered) begin_cluster(grid);
}

void World::end_grids(bool only_first) {
  while (!running_.empty()) {
    const uint32_t grid = running_.front();
    for (uint32_t cta = grid * kCtasPerGrid; cta < (grid + 1) * kCtasPerGrid; ++cta) {
      for (int index = 0; is_clustered(cta) && index < kWarps; ++index)
        engine_.exit_lanes(warp(cta, index), op(), live(cta, index));
      engine_.end_cta(CtaId{cta});
      std::erase_if(flights_, [&](const Flight& flight) { return flight.cta == cta; });
      for (FuzzColumns& columns : columns_) columns.freed |= columns.cta == cta;
    }
    running_.erase(running_.begin());
    ended_.push_back(grid);
    if (only_first) return;
  }
}

LaneMask World::blocked(uint32_t cta, int warp) const {
  const auto at = blocked_.find({cta, warp});
  return at == blocked_.end() ? 0 : at->second;
}

std::vector<int> World::lane_list(uint32_t cta, int warp, LaneMask lanes) const {
  std::vector<int> list;
  each_lane(lanes, [&](int lane) { list.push_back(Reference::lane_index(cta, warp, lane)); });
  return list;
}

std::vector<Touched> World::touched(const Instruction& what) {
  std::vector<Touched> result;
  const bool matrix = what.form == Instruction::Form::kMatrix;
  each_lane(matrix ? what.row_lanes : what.lanes, [&](int lane) {
    Record record;
    record.lane = Reference::lane_index(what.cta, what.warp, lane);
    record.event = reference_.coming_event(record.lane);
    record.writes = what.kind != Kind::kRead;
    record.reads = what.kind != Kind::kWrite;
    record.strong = what.strong;
    record.scope = what.scope;
    record.element_bytes = what.strong ? static_cast<uint8_t>(what.bytes) : 0;
    record.instruction = instruction_;
    if (matrix && what.kind == Kind::kRead) {
      for (int receiver : lane_list(what.cta, what.warp, what.lanes)) {
        record.receivers.push_back({receiver, reference_.coming_event(receiver)});
      }
    }
    for (uint32_t i = 0; i < what.bytes; ++i) {
      result.push_back(
          {{what.global, what.global ? 0 : what.owner, what.address[lane] + i}, record});
    }
  });
  return result;
}

DryRun World::try_access(const Instruction& what) { return reference_.try_access(touched(what)); }

std::vector<Reference::StrongCall> World::words(const Instruction& what) const {
  std::vector<Reference::StrongCall> calls;
  if (!what.strong) return calls;
  LaneMask rest = what.lanes;
  while (rest != 0) {
    const uint64_t address = what.address[__builtin_ctz(rest)];
    LaneMask here = 0;
    each_lane(rest, [&](int lane) { here |= what.address[lane] == address ? 1u << lane : 0; });
    rest &= ~here;
    calls.push_back({{what.global, what.global ? 0 : what.owner, address},
                     lane_list(what.cta, what.warp, here),
                     what.kind,
                     what.strength,
                     what.scope,
                     what.live,
                     static_cast<uint8_t>(what.bytes)});
  }
  return calls;
}

OpId World::op_of(const Instruction& what) {
  const bool matrix = what.form == Instruction::Form::kMatrix;
  const std::tuple key{matrix,     what.kind,  what.strong, what.strength,
                       what.scope, what.bytes, what.live};
  const auto [at, is_new] = ops_.try_emplace(key, static_cast<uint32_t>(ops_.size()));
  constexpr uint32_t kAboveEvents = 1u << 16;
  return OpId{kAboveEvents + 2 * at->second + static_cast<uint32_t>(random_() % 2)};
}

void World::access(const Instruction& what) {
  const std::vector<Reference::StrongCall> calls = words(what);
  for (const auto& call : calls) reference_.forget_overwritten(call.word);
  reference_.access(touched(what));
  for (int lane : lane_list(what.cta, what.warp, what.lanes)) reference_.take_event(lane);
  for (const auto& call : calls) reference_.synchronise(call);
  Warp& by = warp(what.cta, what.warp);
  const Space space = what.global ? Space::kGlobal : Space::kShared;
  const int first = __builtin_ctz(what.lanes);
  const uint64_t base = what.address[first] - static_cast<uint64_t>(first) * what.bytes;
  uint32_t each32[kWarpSize];
  std::copy(what.address.begin(), what.address.end(), each32);
  Access access;
  access.op = op_of(what);
  access.lanes = what.lanes;
  access.space = space;
  access.kind = what.kind;
  access.strength = what.strong ? what.strength : Strength::kWeak;
  access.scope = what.scope;
  access.bytes = access.element_bytes = static_cast<uint8_t>(what.bytes);
  access.result_live = what.live;
  access.at = Addresses::each64(what.address.data());
  const bool is_own = what.global || what.owner == what.cta;
  if (!is_own) access.cta = CtaId{what.owner};
  const bool plain = !what.strong && is_own;
  if (what.form == Instruction::Form::kMatrix) {
    engine_.matrix_rows(by, access.op, what.lanes, what.row_lanes, each32, what.bytes, what.kind);
  } else if (plain && what.form == Instruction::Form::kContiguous && what.kind == Kind::kRead) {
    engine_.read_contiguous(by, access.op, what.lanes, space, base, what.bytes);
  } else if (plain && what.form == Instruction::Form::kContiguous) {
    engine_.write_contiguous(by, access.op, what.lanes, space, base, what.bytes);
  } else if (plain && what.form == Instruction::Form::kUniform && what.kind == Kind::kRead) {
    engine_.read_uniform(by, access.op, what.lanes, space, what.address[first], what.bytes);
  } else {
    if (random_() % 2 != 0) access.at = Addresses::each32(each32);
    engine_.access(by, access);
  }
}

void World::warp_sync(uint32_t cta, int index, LaneMask lanes) {
  reference_.warp_sync(lane_list(cta, index, lanes), false);
  engine_.warp_sync(warp(cta, index), op(), lanes);
}

void World::warp_meet(uint32_t cta, int index, LaneMask lanes) {
  reference_.warp_sync(lane_list(cta, index, lanes), true);
  engine_.warp_meet(warp(cta, index), lanes);
}

void World::barrier_arrive(uint32_t cta, int index, LaneMask lanes, int id, bool waits) {
  FuzzBarrier& barrier = barriers_[{cta, id}];
  const BarrierKind kind = waits ? BarrierKind::kSync : BarrierKind::kArrive;
  const BarrierId barrier_id{static_cast<uint8_t>(id)};
  reference_.barrier_arrive(cta, id, lane_list(cta, index, lanes), waits);
  engine_.barrier_arrive(warp(cta, index), op(), barrier_id, kind, lanes);
  barrier.arrived[index] |= lanes;
  barrier.waits[index] = waits;
  if (waits) blocked_[{cta, index}] |= lanes;
  int whole = 0;
  for (const auto& [who, mask] : barrier.arrived) whole += (live(cta, who) & ~mask) == 0;
  if (whole < barrier.warps_expected) return;
  engine_.barrier_complete(CtaId{cta}, barrier_id);
  reference_.barrier_complete(cta, id);
  for (const auto& [who, mask] : barrier.arrived) {
    if (barrier.waits[who]) blocked_[{cta, who}] &= ~mask;
  }
  barrier = {};
}

void World::init(uint32_t cta, int index, int lane, FuzzObject& object) {
  reference_.mbarrier_init(cta, object.offset, Reference::lane_index(cta, index, lane));
  engine_.mbarrier_init(warp(cta, index), op(), 1u << lane, {CtaId{cta}, object.offset});
  object.live = true;
  object.pending = object.expected;
}

bool World::is_quiet(uint32_t cta, const FuzzObject& object) const {
  return std::none_of(flights_.begin(), flights_.end(), [&](const Flight& flight) {
    return flight.cta == cta && &objects_.at({cta, flight.object}) == &object;
  });
}

void World::inval(uint32_t cta, int index, int lane, FuzzObject& object) {
  reference_.mbarrier_inval(cta, object.offset, Reference::lane_index(cta, index, lane));
  engine_.mbarrier_inval(warp(cta, index), op(), 1u << lane, {CtaId{cta}, object.offset});
  const FuzzObject old = object;
  object = {};
  object.cta = old.cta;
  object.offset = old.offset;
}

void World::complete_tx(uint32_t cta, int index, LaneMask lanes, FuzzObject& object) {
  reference_.mbarrier_complete_tx(object.cta, object.offset, lane_list(cta, index, lanes));
  engine_.mbarrier_complete_tx(warp(cta, index), op(), lanes, {CtaId{object.cta}, object.offset});
  object.bytes -= static_cast<int>(count_lanes(lanes));
  complete_if_due(object);
}

void World::complete_if_due(FuzzObject& object) {
  if (object.pending != 0 || object.bytes != 0) return;
  ++object.phase;
  object.pending = object.expected;
  engine_.mbarrier_complete({CtaId{object.cta}, object.offset});
  reference_.mbarrier_complete(object.cta, object.offset);
}

void World::arrive(uint32_t cta, int index, LaneMask lanes, FuzzObject& object, bool release,
                   Scope scope) {
  reference_.mbarrier_arrive(object.cta, object.offset, lane_list(cta, index, lanes), release,
                             scope);
  engine_.mbarrier_arrive(warp(cta, index), op(), lanes, {CtaId{object.cta}, object.offset},
                          release ? Strength::kRelease : Strength::kRelaxed, scope);
  object.pending -= static_cast<int>(count_lanes(lanes));
  complete_if_due(object);
}

void World::expect(uint32_t cta, int index, LaneMask lanes, FuzzObject& object) {
  reference_.mbarrier_expect(object.cta, object.offset, lane_list(cta, index, lanes));
  engine_.mbarrier_expect(warp(cta, index), op(), lanes, {CtaId{object.cta}, object.offset});
  object.bytes += static_cast<int>(count_lanes(lanes));
}

void World::wait(uint32_t cta, int index, LaneMask lanes, FuzzObject& object, bool acquire,
                 Scope scope) {
  reference_.mbarrier_wait(cta, object.offset, lane_list(cta, index, lanes), acquire, scope);
  engine_.mbarrier_wait(warp(cta, index), op(), lanes, {CtaId{cta}, object.offset},
                        acquire ? Strength::kAcquire : Strength::kRelaxed, scope);
}

void World::fence_proxy(uint32_t cta, int index, LaneMask lanes, FenceSpaces spaces) {
  for (int lane : lane_list(cta, index, lanes)) reference_.fence_proxy(lane, spaces);
  engine_.fence_proxy_async(warp(cta, index), lanes, spaces);
}

void World::fence(uint32_t cta, int index, LaneMask lanes, FenceKind kind, Scope scope) {
  for (int lane : lane_list(cta, index, lanes)) reference_.fence(lane, kind, scope);
  engine_.fence(warp(cta, index), op(), lanes, kind, scope);
}

void World::exit_lanes(uint32_t cta, int index, LaneMask lanes) {
  engine_.exit_lanes(warp(cta, index), op(), lanes);
  live_[{cta, index}] &= ~lanes;
}

bool World::barrier_free(uint32_t cta, int warp) const {
  if (is_clustered(cta)) return false;
  return std::none_of(barriers_.begin(), barriers_.end(), [&](const auto& entry) {
    return entry.first.first == cta && entry.second.arrived.contains(warp);
  });
}

std::string World::compare() const {
  std::map<std::tuple<uint32_t, bool, uint32_t, uint64_t>, int> expected;
  for (const ByteRace& race : reference_.races()) {
    expected[{race.instruction, race.global, race.cta, race.address}] = race.path;
  }
  const auto describe = [](const auto& entry) {
    const auto& [instruction, global, cta, address] = entry.first;
    return fmt::format("event {} {} cta {} address {} path {}", instruction,
                       global ? "global" : "shared", cta, address, entry.second);
  };
  for (const auto& entry : expected) {
    const auto at = races_.find(entry.first);
    if (at == races_.end()) return "missed: " + describe(entry);
    if (at->second != entry.second)
      return "path: " + describe(entry) + fmt::format(" engine {}", at->second);
  }
  for (const auto& entry : races_) {
    if (!expected.contains(entry.first)) return "false alarm: " + describe(entry);
  }
  std::map<RuleId, uint64_t> unforced;
  for (const Unforced& fact : engine_.facts().unforced) unforced[fact.rule] += fact.count;
  for (RuleId rule : kConditions) {
    const auto want = reference_.unforced.find(rule);
    const uint64_t wanted = want == reference_.unforced.end() ? 0 : want->second;
    if (unforced[rule] == wanted) continue;
    return fmt::format("{}: engine {} reference {}", diagnose::rule(rule).id, unforced[rule],
                       wanted);
  }
  if (init_races_ != reference_.init_races) {
    return fmt::format("init races: engine {} reference {}", init_races_, reference_.init_races);
  }
  if (inval_races_ != reference_.inval_races) {
    return fmt::format("inval races: engine {} reference {}", inval_races_.size(),
                       reference_.inval_races.size());
  }
  uint64_t unwritten = 0;
  for (const Unwritten& fact : engine_.facts().unwritten) unwritten += fact.count;
  // The engine does not count again what the same instruction has read in the same epoch.
  const uint64_t most = reference_.unwritten_bytes();
  if (unwritten > most || (unwritten == 0) != (most == 0)) {
    return fmt::format("unwritten: engine {} reference {}", unwritten, most);
  }
  for (const ByteRace& race : reference_.strict_findings()) {
    if (!strict_found_.contains({race.instruction, race.global, race.cta, race.address})) {
      return fmt::format("strict missed: event {} address {}", race.instruction, race.address);
    }
  }
  return {};
}

void World::count(FuzzCounts& counts) const {
  ++counts.programs;
  counts.events += instruction_;
  counts.racy += !races_.empty();
  for (const auto& [key, path] : races_) ++counts.racing_bytes[path];
  counts.strict_bytes += strict_found_.size();
  counts.unwritten_bytes += reference_.unwritten_bytes();
  counts.init_races += reference_.init_races;
  counts.inval_races += reference_.inval_races.size();
  int i = 0;
  for (RuleId rule : kConditions) {
    const auto at = reference_.unforced.find(rule);
    counts.unforced[i++] += at == reference_.unforced.end() ? 0 : at->second;
  }
}

}  // namespace lw::reference_order
