// Tensor memory and grids that wait in the naive engine: every operation has its own milestones,
// every pair of accesses to a cell is looked at.

#include <algorithm>

#include "reference.h"

namespace lw::reference_order {
namespace {

bool is_one_of(Agent agent, std::initializer_list<Agent> list) {
  return std::ranges::find(list, agent) != list.end();
}

// PTX 9.4, 9.7.18.6.2.
bool is_pair(const Record& x, const Record& y) {
  using enum Agent;
  if (x.agent == kMmaOperand)
    return is_one_of(y.agent, {kMmaResult, kTensorCopy, kTensorCopy4x256b, kTensorShift});
  if (x.agent == kMmaResult) return y.agent == kMmaResult && x.accumulator == y.accumulator;
  if (is_one_of(x.agent, {kTensorCopy, kTensorCopy4x256b})) return y.agent == kMmaOperand;
  if (x.agent == kTensorShift) return is_one_of(y.agent, {kMmaOperand, kTensorCopy4x256b});
  if (x.agent == kTensorStore) return is_one_of(y.agent, {kTensorLoad, kTensorStore});
  return x.agent == kTensorLoad && y.agent == kTensorStore;
}

int warp_of(int lane) { return lane / kWarpSize; }

}  // namespace

uint32_t Reference::new_tensor_milestone() {
  const uint32_t id = new_milestone();
  tensor_ids_.learn_milestone(id);
  return id;
}

Knowledge Reference::tensor_part(const Knowledge& of) const {
  Knowledge part;
  part.milestone = of.milestone;
  part.milestone.resize(tensor_ids_.milestone.size());
  for (size_t i = 0; i < part.milestone.size(); ++i) part.milestone[i] &= tensor_ids_.milestone[i];
  return part;
}

// PTX 9.4: inside a warp, between threads of it if the earlier one fenced what it had issued and
// the later one knows. Across warps only 9.1 has pairs.
Reference::Follows Reference::follows(const Record& x, const Record& y) {
  if (cta_of(x.lane) != cta_of(y.lane) || !is_pair(x, y)) return Follows::kNo;
  const bool same_warp = warp_of(x.lane) == warp_of(y.lane);
  if (is_one_of(x.agent, {Agent::kTensorLoad, Agent::kTensorStore}))
    return same_warp ? Follows::kYes : Follows::kNo;
  if (x.lane != y.lane && !state(y.lane).views[kH].knows_milestone(x.fenced)) return Follows::kNo;
  if (same_warp) return Follows::kYes;
  const bool old_pair =
      x.agent != Agent::kMmaOperand || is_one_of(y.agent, {Agent::kMmaResult, Agent::kTensorShift});
  return old_pair ? Follows::kAcrossWarps : Follows::kNo;
}

// A reader of the cell came after its last write, and this follows the reader: in tensor memory by
// itself, elsewhere because the end of an asynchronous reader is known, which need not tell of the
// write.
bool Reference::follows_a_reader(const ByteKey& key, const Record& x, const Record& y) {
  if (!y.writes || !x.writes) return false;
  const bool tensor = key.cta >= kTensorOwner;
  if (!tensor && (y.reads || x.strong)) return false;
  return std::ranges::any_of(bytes_[key].records, [&](const Record& r) {
    if (r.writes) return false;
    if (tensor) return follows(r, y) == Follows::kYes;
    return r.async && r.async_proxy && judge(key, r, y).first == kOrdered;
  });
}

std::pair<int, int> Reference::judge_tensor(const Record& x, const Record& y) {
  const std::vector<int> lanes = y.together.empty() ? std::vector<int>{y.lane} : y.together;
  const auto all_know = [&](View view) {
    return std::ranges::all_of(lanes, [&](int lane) { return knows(view, lane, x); });
  };
  if (all_know(kH) || follows(x, y) == Follows::kYes) return {kOrdered, 0};
  const Path path = all_know(kE) ? Path::kExecution : all_know(kC) ? Path::kControl : Path::kNone;
  const bool lifetime = y.agent == Agent::kTensorFree && path != Path::kNone;
  const bool told = path == Path::kExecution && cta_of(x.lane) != cta_of(y.lane) && !relaxed_wait_;
  const bool strict = lifetime || told || follows(x, y) == Follows::kAcrossWarps;
  return {static_cast<int>(path), strict ? 1 : 2};
}

void Reference::tensor_alloc(const std::vector<Touched>& cells) {
  for (const Touched& cell : cells) {
    bytes_[cell.byte] = {};
    bytes_[cell.byte].records.push_back(cell.record);
  }
}

void Reference::freed_access(const std::vector<Touched>& cells, const Record& freed) {
  for (const Touched& cell : cells) {
    const auto [path, tier] = judge_tensor(freed, cell.record);
    const ByteRace race{instruction_, false, cell.byte.cta, cell.byte.address, path};
    if (tier == 2) races_.insert(race);
  }
}

void Reference::tensor_moved(int lane, uint32_t milestone, bool store) {
  Moves& moves = moves_[warp_of(lane)];
  (store ? moves.stores : moves.loads).push_back(milestone);
}

void Reference::tensor_wait(std::span<const int> lanes, bool stores) {
  const Moves& moves = moves_[warp_of(lanes.front())];
  for (int lane : lanes) {
    for (int view : {kH, kE, kC}) {
      for (uint32_t id : stores ? moves.stores : moves.loads)
        state(lane).views[view].learn_milestone(id);
    }
  }
}

uint32_t Reference::tensor_commit(uint32_t cta, uint32_t offset, int lane) {
  const int lanes[] = {lane};
  tensor_fence_before(lanes);
  Object& object = objects_[{cta, offset}];
  use_object(object, lanes);
  check_forced(object, lanes);
  Async arrival{cta, offset, object.phase, {}, {}, {}, {}};
  for (const LaneEvent& call : number(lanes)) {
    arrival.control = publish(lane)[kC];
    arrival.arrival.push_back(call);
  }
  for (const TensorIds& ids : state(lane).work) {
    arrival.copies.push_back(ids.cells);
    arrival.copies.push_back(ids.shared);
  }
  async_[next_async_] = arrival;
  return next_async_++;
}

void Reference::tensor_fence_before(std::span<const int> lanes) {
  for (int lane : lanes) {
    LaneState& me = state(lane);
    for (int view : {kH, kE, kC}) {
      for (const TensorIds& ids : me.work) me.views[view].learn_milestone(ids.fenced);
    }
    me.tensor = tensor_part(me.views[kH]);
  }
}

void Reference::tensor_fence_after(std::span<const int> lanes) {
  for (int lane : lanes) state(lane).views[kH].join(tensor_part(state(lane).views[kE]));
}

void Reference::grid_wait(uint32_t grid, const std::set<uint32_t>& over,
                          std::span<const int> lanes) {
  const auto [at, is_new] = grid_waits_.try_emplace(grid);
  if (is_new) at->second = {new_milestone(), over};
  for (int lane : lanes) {
    for (Knowledge& view : state(lane).views) view.learn_milestone(at->second.milestone);
  }
}

bool Reference::knows_grid_end(int view, int lane, int earlier) {
  const Knowledge& knowledge = state(lane).views[view];
  return std::ranges::any_of(grid_waits_, [&](const auto& entry) {
    return knowledge.knows_milestone(entry.second.milestone) &&
           entry.second.over.contains(state(earlier).grid);
  });
}

}  // namespace lw::reference_order
