// Accesses and copies of the fuzzer's programs: who, where, how wide.

#include <fmt/format.h>

#include <algorithm>

#include "generator.h"

namespace lw::reference_order {

std::string Generator::describe(const Instruction& what) {
  const LaneMask lanes = what.form == Instruction::Form::kMatrix ? what.row_lanes : what.lanes;
  std::string text =
      fmt::format("form {} bytes {} at {} of {} kind {}", static_cast<int>(what.form), what.bytes,
                  what.address[__builtin_ctz(lanes)], what.owner, static_cast<int>(what.kind));
  if (what.strong) {
    text += fmt::format(" strength {} scope {} live {}", static_cast<int>(what.strength),
                        static_cast<int>(what.scope), what.live);
  }
  return text;
}

Range Generator::range(bool global, uint32_t bytes) {
  const uint64_t space = global ? World::kGlobalBytes : World::kSharedBytes;
  const uint64_t base = global ? World::kGlobalBase : 0;
  if (often(character_.tile)) return {base + std::min(tile_[global].start, space - bytes), bytes};
  return {base + below((space - bytes) / 16 + 1) * 16, bytes};
}

void Generator::spread_addresses(Instruction& what) {
  const uint64_t space = what.global ? World::kGlobalBytes : World::kSharedBytes;
  const uint64_t base = what.global ? World::kGlobalBase : 0;
  const uint64_t places = space / what.bytes;
  uint64_t start = below(places);
  if (what.form == Instruction::Form::kContiguous && often(50)) start -= start % 32;
  // Where the last copy went or came from, things happen.
  if (often(25)) start = (last_copy_[what.global] - base) / what.bytes;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    uint64_t place = start;
    const auto index = static_cast<uint64_t>(lane);
    switch (what.form) {
      case Instruction::Form::kUniform:
        break;
      case Instruction::Form::kContiguous:
        place = start + index;
        break;
      default:
        if (start % 3 == 0) place = start + index * 2;              // a stride
        if (start % 3 == 1) place = start + (index ^ (start & 7));  // a permutation
        if (start % 3 == 2) place = below(places);
        break;
    }
    if (what.form == Instruction::Form::kContiguous && start + 32 > places) {
      place = places < 32 ? index % places : places - 32 + index;
    }
    what.address[lane] = base + place % places * what.bytes;
  }
}

// Rows that are the pieces of a whole warp's 16-byte accesses, of the same lanes or of others.
void Generator::spread_rows(Instruction& what) {
  const uint64_t turned = often(60) ? 0 : below(8);
  for (uint64_t lane = 0; lane < kWarpSize; ++lane) what.address[lane] = (lane ^ turned) * 16;
}

// Whole warps as a rule, in the order of the lanes or in another.
void Generator::place_on_tile(Instruction& what) {
  const uint64_t space = what.global ? World::kGlobalBytes : World::kSharedBytes;
  const uint64_t base = what.global ? World::kGlobalBase : 0;
  const uint64_t start = std::min<uint64_t>(tile_[what.global].start, space - what.bytes * 32);
  if (often(80)) what.lanes = what.row_lanes = lanes_;
  what.form = often(55) ? Instruction::Form::kContiguous : Instruction::Form::kEach;
  uint64_t turned = 0;
  if (what.form == Instruction::Form::kEach)
    turned = often(70) ? tile_[what.global].turned : below(32);
  for (uint64_t lane = 0; lane < kWarpSize; ++lane) {
    what.address[lane] = base + start + (lane ^ turned) * what.bytes;
  }
}

Instruction Generator::memory(bool global, uint32_t bytes) {
  Instruction what;
  what.cta = what.owner = cta_;
  what.warp = warp_;
  what.lanes = what.row_lanes = some_lanes(lanes_);
  if (what.lanes == 0) what.lanes = lanes_;
  what.global = global;
  what.bytes = bytes;
  const uint64_t form = below(10);
  what.form = form < 5   ? Instruction::Form::kContiguous
              : form < 7 ? Instruction::Form::kUniform
                         : Instruction::Form::kEach;
  if (what.form == Instruction::Form::kContiguous && bytes * 32 > World::kSharedBytes) {
    what.form = Instruction::Form::kEach;
  }
  spread_addresses(what);
  if (often(character_.tile)) place_on_tile(what);
  return what;
}

Strength Generator::strength(Kind kind) {
  if (often(40)) return Strength::kRelaxed;
  if (kind == Kind::kRead) return Strength::kAcquire;
  if (kind == Kind::kWrite) return Strength::kRelease;
  const Strength any[] = {Strength::kAcquire, Strength::kRelease, Strength::kAcqRel};
  return any[below(3)];
}

// What kernels do between two barriers: a warp goes over rows or words of a tile, one like the
// other.
void Generator::like_accesses() {
  const uint32_t sizes[] = {4, 4, 8, 16};
  const bool global = often(character_.global);
  const bool uniform = often(40);
  const uint64_t step = uniform ? 4 : 128;
  Instruction what = memory(global, sizes[below(4)]);
  what.kind = uniform || often(character_.reads) ? Kind::kRead : Kind::kWrite;
  what.form = uniform ? Instruction::Form::kUniform : Instruction::Form::kContiguous;
  what.lanes = what.row_lanes = lanes_;
  const uint64_t bytes = uniform ? what.bytes : what.bytes * kWarpSize;
  const uint64_t space = global ? World::kGlobalBytes : World::kSharedBytes;
  for (uint64_t left = 1 + below(5); left-- > 0;) {
    const uint64_t start = below((space - bytes) / step + 1) * step / what.bytes * what.bytes;
    for (uint64_t lane = 0; lane < kWarpSize; ++lane) {
      what.address[lane] =
          (global ? World::kGlobalBase : 0) + start + (uniform ? 0 : lane * what.bytes);
    }
    if (drops(world_.try_access(what))) continue;
    note(what.kind == Kind::kRead ? "read" : "write", what.lanes, describe(what));
    world_.access(what);
  }
}

void Generator::data_access() {
  if (often(character_.rows)) return like_accesses();
  const uint32_t wide[] = {4, 4, 4, 8, 16};
  const uint32_t narrow[] = {1, 2, 4, 8, 2};
  const bool global = often(character_.global);
  uint32_t bytes = (character_.narrow && often(40) ? narrow : wide)[below(5)];
  if (often(character_.tile)) bytes = tile_[global].bytes;
  Instruction what = memory(global, bytes);
  what.kind = often(character_.reads) ? Kind::kRead : Kind::kWrite;
  if (character_.strong && often(40) && (bytes == 4 || bytes == 8)) {
    what.strong = true;
    what.kind = often(40) ? Kind::kAtomic : what.kind;
    what.scope = often(50) ? Scope::kGpu : often(50) ? Scope::kCluster : Scope::kCta;
    what.live = often(50);
    what.strength = strength(what.kind);
    what.form = often(60) ? Instruction::Form::kUniform : Instruction::Form::kEach;
    if (often(60)) what.lanes = what.row_lanes = 1u << one_lane(lanes_);
    spread_addresses(what);
    // Few words, so that threads meet at them.
    const uint64_t first = what.global ? World::kGlobalBase : 0;
    for (uint64_t& address : what.address) address = first + (address - first) % (bytes * 4);
  }
  if (character_.matrices && often(25) && lanes_ == world_.live(cta_, warp_)) {
    what = memory(false, 16);
    what.form = Instruction::Form::kMatrix;
    what.kind = often(25) ? Kind::kWrite : Kind::kRead;
    what.lanes = lanes_;
    what.row_lanes = lanes_ & (often(50) ? 0xffu : kAllLanes);
    if (what.row_lanes == 0) what.row_lanes = lanes_;
    spread_addresses(what);
    if (often(50)) spread_rows(what);
  }
  if (!what.global && what.form != Instruction::Form::kMatrix) what.owner = some_owner();
  if (drops(world_.try_access(what))) return;
  note(what.kind == Kind::kRead ? "read" : "write", what.lanes, describe(what));
  world_.access(what);
}

void Generator::copy() {
  const uint32_t bytes = often(50) ? 16 : 4;
  Instruction to = memory(false, bytes);
  Instruction from = memory(true, bytes);
  from.lanes = to.lanes;
  if (drops(world_.try_cp_async(to, from))) return;
  note("cp.async", to.lanes,
       fmt::format("bytes {} to {} from {}", bytes, to.address[__builtin_ctz(to.lanes)],
                   from.address[__builtin_ctz(to.lanes)]));
  world_.cp_async(to, from);
}

void Generator::copy_event() {
  const LaneMask lanes = often(40) ? lanes_ : some_lanes(lanes_);
  if (lanes == 0) return;
  const uint64_t kind = below(10);
  if (kind < 4) return copy();
  if (kind < 6) {
    note("cp.async.commit", lanes);
    return world_.cp_async_commit(cta_, warp_, lanes);
  }
  FuzzObject& object = world_.object(cta_, static_cast<int>(below(World::kObjects)));
  if (kind < 7 && object.live && object.pending >= __builtin_popcount(lanes)) {
    note("cp.async.mbarrier.arrive.noinc", lanes, fmt::format("object {}", object.offset));
    return world_.cp_async_arrive(cta_, warp_, lanes, object);
  }
  const auto left = static_cast<uint32_t>(below(3));
  note("cp.async.wait_group", lanes, fmt::format("{}", left));
  world_.cp_async_wait(cta_, warp_, lanes, left);
}

bool Generator::bulk_copy(int lane, FuzzObject* signal) {
  const bool load = signal != nullptr;
  const uint32_t bytes = static_cast<uint32_t>(16 << below(6));
  const Range shared = range(false, bytes);
  const Range global = range(true, bytes);
  const uint32_t to = load ? some_owner() : cta_;
  if (drops(world_.try_bulk(cta_, warp_, lane, to, shared, global, load))) return false;
  note(load ? "bulk load" : "bulk store", 1u << lane,
       fmt::format("shared {} of {} global {} bytes {} signal in {}", shared.base, to, global.base,
                   bytes, load ? signal->cta : 0));
  if (load) {
    world_.bulk_load(cta_, warp_, lane, *signal, to, shared, global);
  } else {
    world_.bulk_store(cta_, warp_, lane, shared, global, character_.strong && often(40));
  }
  return true;
}

void Generator::bulk_event() {
  const int lane = one_lane(lanes_);
  const uint64_t kind = below(10);
  if (kind < 4) {
    FuzzObject& object = some_object(some_owner());
    if (object.live && object.pending != 0) bulk_copy(lane, &object);
    return;
  }
  if (kind < 7) {
    bulk_copy(lane, nullptr);
    return;
  }
  const LaneMask lanes = often(50) ? 1u << lane : some_lanes(lanes_);
  if (lanes == 0) return;
  if (kind < 8) {
    note("bulk.commit", lanes);
    return world_.bulk_commit(cta_, warp_, lanes);
  }
  const auto left = static_cast<uint32_t>(below(2));
  const bool reads_only = often(50);
  note("bulk.wait_group", lanes, fmt::format("{} read {}", left, reads_only));
  world_.bulk_wait(cta_, warp_, lanes, left, reads_only);
}

}  // namespace lw::reference_order
