// Asynchronous copies of the fuzzer's machine.

#include <algorithm>

#include "world.h"

namespace lw::reference_order {
namespace {

template <class Visit>
void each_lane(LaneMask lanes, Visit visit) {
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) visit(__builtin_ctz(rest));
}

}  // namespace

// `ids`: the milestone of each lane's copy, made up if it has none.
std::vector<Touched> World::copied(const Instruction& side, Kind kind,
                                   std::map<int, uint32_t>& ids) {
  std::vector<Touched> result;
  each_lane(side.lanes, [&](int lane) {
    Record record;
    record.lane = Reference::lane_index(side.cta, side.warp, lane);
    record.async = record.cp_async = true;
    record.milestone = ids[lane];
    record.writes = kind == Kind::kWrite;
    record.reads = !record.writes;
    record.instruction = instruction_;
    for (uint32_t i = 0; i < side.bytes; ++i) {
      result.push_back(
          {{side.global, side.global ? 0 : side.owner, side.address[lane] + i}, record});
    }
  });
  return result;
}

DryRun World::try_cp_async(const Instruction& to, const Instruction& from) {
  std::map<int, uint32_t> ids;
  const DryRun read = reference_.try_access(copied(from, Kind::kRead, ids));
  const DryRun write = reference_.try_access(copied(to, Kind::kWrite, ids));
  const bool races = read.races || write.races;
  return {races, races && read.narrowly == read.races && write.narrowly == write.races};
}

void World::cp_async(const Instruction& to, const Instruction& from) {
  std::map<int, uint32_t> ids;
  each_lane(to.lanes, [&](int lane) { ids[lane] = reference_.new_milestone(); });
  reference_.access(copied(from, Kind::kRead, ids));
  reference_.access(copied(to, Kind::kWrite, ids));
  for (const auto& [lane, id] : ids) {
    reference_.cp_async_issued(Reference::lane_index(to.cta, to.warp, lane), id);
  }
  uint32_t each32[kWarpSize];
  std::copy(to.address.begin(), to.address.end(), each32);
  engine_.cp_async(warp(to.cta, to.warp), op(), to.lanes, Addresses::each32(each32), to.bytes,
                   Addresses::each64(from.address.data()), from.bytes);
}

void World::cp_async_commit(uint32_t cta, int index, LaneMask lanes) {
  for (int lane : lane_list(cta, index, lanes)) reference_.cp_async_commit(lane);
  engine_.cp_async_commit(warp(cta, index), lanes);
}

void World::cp_async_wait(uint32_t cta, int index, LaneMask lanes, uint32_t left) {
  for (int lane : lane_list(cta, index, lanes)) reference_.cp_async_wait(lane, left);
  engine_.cp_async_wait(warp(cta, index), lanes, left);
}

void World::cp_async_arrive(uint32_t cta, int index, LaneMask lanes, FuzzObject& object) {
  Flight flight = flight_to(object);
  flight.arrival = true;
  flight.lanes = __builtin_popcount(lanes);
  flight.reference = reference_.cp_async_arrive(cta, object.offset, lane_list(cta, index, lanes));
  flight.engine =
      engine_.cp_async_arrive(warp(cta, index), op(), lanes, {CtaId{cta}, object.offset});
  flights_.push_back(flight);
}

std::vector<Touched> World::ranged(uint32_t cta, int lane, bool global, Range range, Kind kind,
                                   uint32_t id) {
  std::vector<Touched> result;
  Record record;
  record.lane = lane;
  record.async = record.async_proxy = true;
  record.milestone = id;
  record.writes = kind != Kind::kRead;
  record.reads = kind != Kind::kWrite;
  record.strong = kind == Kind::kAtomic;
  record.scope = Scope::kGpu;
  record.element_bytes = kind == Kind::kAtomic ? 4 : 0;
  record.instruction = instruction_;
  for (uint64_t i = 0; i < range.bytes; ++i) {
    result.push_back({{global, global ? 0 : cta, range.base + i}, record});
  }
  return result;
}

World::Flight World::flight_to(const FuzzObject& object) const {
  Flight flight;
  flight.cta = object.cta;
  flight.object = &object == &objects_.at({object.cta, 0}) ? 0 : 1;
  return flight;
}

std::vector<Touched> World::both_sides(uint32_t to, int lane, Range shared, Range global, bool load,
                                       Kind kind, uint32_t shared_id, uint32_t global_id) {
  auto result = ranged(to, lane, false, shared, load ? Kind::kWrite : Kind::kRead, shared_id);
  const auto other = ranged(to, lane, true, global, kind, global_id);
  result.insert(result.end(), other.begin(), other.end());
  return result;
}

DryRun World::try_bulk(uint32_t cta, int index, int lane, uint32_t to, Range shared, Range global,
                       bool load) {
  const int who = Reference::lane_index(cta, index, lane);
  const Kind kind = load ? Kind::kRead : Kind::kWrite;
  return reference_.try_access(both_sides(to, who, shared, global, load, kind, 0, 0));
}

void World::bulk_load(uint32_t cta, int index, int lane, FuzzObject& object, uint32_t to,
                      Range shared, Range global) {
  const int who = Reference::lane_index(cta, index, lane);
  const uint32_t ids[] = {reference_.new_milestone()};
  reference_.access(both_sides(to, who, shared, global, true, Kind::kRead, ids[0], ids[0]));
  Flight flight = flight_to(object);
  flight.reference = reference_.bulk_load(object.cta, object.offset, who, ids);
  const AsyncAccess sides[] = {
      {Space::kShared, Kind::kWrite, CtaId{to}, std::span(&shared, 1), 4, Scope::kGpu},
      {Space::kGlobal, Kind::kRead, CtaId{cta}, std::span(&global, 1), 4, Scope::kGpu}};
  flight.engine = engine_.bulk_load(warp(cta, index), op(), LaneId{static_cast<uint8_t>(lane)},
                                    {CtaId{object.cta}, object.offset}, sides);
  flights_.push_back(flight);
}

void World::bulk_store(uint32_t cta, int index, int lane, Range shared, Range global, bool reduce) {
  const int who = Reference::lane_index(cta, index, lane);
  const uint32_t read = reference_.new_milestone();
  const uint32_t written = reference_.new_milestone();
  const Kind kind = reduce ? Kind::kAtomic : Kind::kWrite;
  reference_.access(both_sides(cta, who, shared, global, false, kind, read, written));
  reference_.bulk_store_issued(who, read, true);
  reference_.bulk_store_issued(who, written, false);
  const AsyncAccess sides[] = {
      {Space::kShared, Kind::kRead, CtaId{cta}, std::span(&shared, 1), 4, Scope::kGpu},
      {Space::kGlobal, kind, CtaId{cta}, std::span(&global, 1), 4, Scope::kGpu}};
  engine_.bulk_store(warp(cta, index), op(), LaneId{static_cast<uint8_t>(lane)}, sides);
}

void World::bulk_commit(uint32_t cta, int index, LaneMask lanes) {
  for (int lane : lane_list(cta, index, lanes)) reference_.bulk_commit(lane);
  engine_.bulk_commit(warp(cta, index), lanes);
}

void World::bulk_wait(uint32_t cta, int index, LaneMask lanes, uint32_t left, bool reads_only) {
  for (int lane : lane_list(cta, index, lanes)) reference_.bulk_wait(lane, left, reads_only);
  engine_.bulk_wait(warp(cta, index), lanes, left, reads_only);
}

void World::finish(size_t chosen) {
  const Flight flight = flights_[chosen];
  FuzzObject& object = objects_.at({flight.cta, flight.object});
  if (flight.arrival && object.pending < flight.lanes) return;
  flights_.erase(flights_.begin() + static_cast<ptrdiff_t>(chosen));
  if (flight.arrival) {
    engine_.async_arrive(flight.engine);
    reference_.async_arrive(flight.reference);
    object.pending -= flight.lanes;
  } else {
    engine_.bulk_complete(flight.engine);
    reference_.bulk_complete(flight.reference);
    object.bytes -= 1;
  }
  complete_if_due(object);
}

}  // namespace lw::reference_order
