#include "fuzz.h"

#include <fmt/format.h>

#include "generator.h"

namespace lw::reference_order {

Character Generator::draw_character() {
  Character c{};
  const auto weight = [&] { return static_cast<uint32_t>(below(4) == 0 ? 0 : below(12)); };
  c.access = 20 + weight();
  c.sync = weight();
  c.barrier = weight();
  c.mbarrier = weight() * 2;
  c.hand_over = weight();
  c.copies = weight();
  c.bulk = weight();
  c.fence = weight();
  c.finish = 4;
  c.exit = below(8) == 0 ? 1 : 0;
  c.cluster = below(3) == 0 ? 0 : 4 + weight();
  c.remote = static_cast<int>(10 + below(60));
  c.grid_wait = below(2) == 0 ? 2 : 0;
  if (below(3) == 0) {
    c.tensor = 20 + static_cast<uint32_t>(below(30));
    c.mbarrier += 10;
  }
  const uint32_t kept[] = {1, 8, 30, 200};
  c.races_kept = kept[below(4)];
  c.narrow = below(3) == 0;
  c.strong = below(3) == 0;
  c.matrices = below(2) == 0;
  c.reads = below(4) == 0 ? 92 : 55;
  c.tile = below(3) == 0 ? 0 : static_cast<int>(20 + below(60));
  c.global = 30;
  c.rows = below(3) == 0 ? static_cast<int>(below(100)) : 0;
  if (below(6) == 0) {  // many read one tile, then copies come
    c.reads = 95;
    c.tile = 95;
    c.global = often(50) ? 90 : 10;
    c.access = 40;
    c.bulk = 8;
  }
  c.events = static_cast<int>(100 + below(200));
  return c;
}

Tile Generator::draw_tile() {
  const uint32_t bytes[] = {4, 4, 8, 16};
  return {below(4) * 128, bytes[below(4)], static_cast<uint32_t>(1 + below(31))};
}

LaneMask Generator::some_lanes(LaneMask from) {
  switch (below(6)) {
    case 0:
      return from;
    case 1:
      return from;
    case 2:
      return from & 0xffff;
    case 3:
      return from & 0xffff0000u;
    case 4:
      return 1u << one_lane(from);
    default:
      return from & static_cast<LaneMask>(random_());
  }
}

int Generator::one_lane(LaneMask from) {
  if (often(50)) return __builtin_ctz(from);
  int skip = static_cast<int>(below(static_cast<uint64_t>(__builtin_popcount(from))));
  while (skip-- > 0) from &= from - 1;
  return __builtin_ctz(from);
}

void Generator::note(const char* what, LaneMask lanes, const std::string& more) {
  world_.next_event(
      fmt::format("cta {} warp {} lanes {:08x} {} {}", cta_, warp_, lanes, what, more));
}

void Generator::pick_warp() {
  cta_ = world_.cta(random_());
  warp_ = static_cast<int>(below(kWarps));
  lanes_ = world_.live(cta_, warp_) & ~world_.blocked(cta_, warp_);
}

void Generator::fence_event() {
  const LaneMask lanes = some_lanes(lanes_);
  if (lanes == 0) return;
  if (character_.strong && often(60)) {
    const FenceKind kinds[] = {FenceKind::kAcqRel, FenceKind::kAcquire, FenceKind::kRelease,
                               FenceKind::kSc};
    const FenceKind kind = kinds[below(4)];
    const Scope scope = often(50) ? Scope::kGpu : some_scope();
    note("fence", lanes,
         fmt::format("kind {} scope {}", static_cast<int>(kind), static_cast<int>(scope)));
    return world_.fence(cta_, warp_, lanes, kind, scope);
  }
  const auto spaces = static_cast<FenceSpaces>(1 + below(3));
  note("fence.proxy.async", lanes, fmt::format("spaces {}", static_cast<int>(spaces)));
  world_.fence_proxy(cta_, warp_, lanes, spaces);
}

void Generator::synchronise() {
  const LaneMask lanes = often(60) ? lanes_ : some_lanes(lanes_);
  if (lanes == 0) return;
  if (often(60)) {
    note("warp_sync", lanes);
    world_.warp_sync(cta_, warp_, lanes);
  } else {
    note("warp_meet", lanes);
    world_.warp_meet(cta_, warp_, lanes);
  }
}

void Generator::named_barrier() {
  const int id = static_cast<int>(below(3));
  FuzzBarrier& barrier = world_.barrier(cta_, id);
  if (barrier.arrived.empty()) barrier.warps_expected = static_cast<int>(1 + below(kWarps));
  const auto at = barrier.arrived.find(warp_);
  const LaneMask there = at == barrier.arrived.end() ? 0 : at->second;
  LaneMask lanes = lanes_ & ~there;
  if (often(15)) lanes = some_lanes(lanes_) & ~there;
  if (lanes == 0) return;
  const bool waits = there != 0 ? barrier.waits[warp_] : often(70);
  note(waits ? "bar.sync" : "bar.arrive", lanes, fmt::format("id {}", id));
  world_.barrier_arrive(cta_, warp_, lanes, id, waits);
}

void Generator::object_event() {
  FuzzObject& object = some_object(some_owner());
  if (!object.live) {
    if (object.cta != cta_) return;
    const int counts[] = {1, 2, 32, 33, 64, 96};
    return init(object, counts[below(6)]);
  }
  LaneMask lanes = some_lanes(lanes_);
  if (lanes == 0) return;
  const uint64_t kind = below(11);
  if (kind == 10) return rare_object_event(object);
  if (kind < 4) {
    while (__builtin_popcount(lanes) > object.pending) lanes &= lanes - 1;
    if (lanes == 0) return;
    const bool release = often(75);
    const Scope scope = some_scope();
    note("arrive", lanes,
         fmt::format("object {} of {} release {} scope {}", object.offset, object.cta, release,
                     static_cast<int>(scope)));
    world_.arrive(cta_, warp_, lanes, object, release, scope);
  } else if (kind < 5) {
    if (object.pending == 0) return;
    lanes = 1u << one_lane(lanes_);
    note("expect", lanes, fmt::format("object {} of {}", object.offset, object.cta));
    world_.expect(cta_, warp_, lanes, object);
  } else if (object.cta == cta_) {
    const bool acquire = often(75);
    const Scope scope = some_scope();
    note("wait", lanes,
         fmt::format("object {} phase {} acquire {} scope {}", object.offset, object.phase, acquire,
                     static_cast<int>(scope)));
    world_.wait(cta_, warp_, lanes, object, acquire, scope);
  }
}

void Generator::init(FuzzObject& object, int expected) {
  object.expected = expected;
  const int lane = one_lane(lanes_);
  note("init", 1u << lane, fmt::format("object {} count {}", object.offset, expected));
  world_.init(cta_, warp_, lane, object);
}

// What the warp brings to the object: its own arrivals, those of its copies, or a load.
bool Generator::bring(FuzzObject& object, int how) {
  if (how == 0) {
    const bool release = often(85);
    const Scope scope = often(80) ? Scope::kCluster : Scope::kCta;
    note("arrive", lanes_,
         fmt::format("object {} of {} release {} scope {}", object.offset, object.cta, release,
                     static_cast<int>(scope)));
    world_.arrive(cta_, warp_, lanes_, object, release, scope);
    return true;
  }
  if (how == 1) {
    copy();
    note("cp.async.mbarrier.arrive.noinc", lanes_, fmt::format("object {}", object.offset));
    world_.cp_async_arrive(cta_, warp_, lanes_, object);
  } else {
    const int lane = one_lane(lanes_);
    if (!bulk_copy(lane, &object)) return false;
    note("expect", 1u << lane, fmt::format("object {}", object.offset));
    world_.expect(cta_, warp_, 1u << lane, object);
    note("arrive", 1u << lane, fmt::format("object {} release true", object.offset));
    world_.arrive(cta_, warp_, 1u << lane, object, true, some_scope());
  }
  world_.next_event("the last in flight finishes");
  world_.finish_last();
  return true;
}

// A warp completes a phase by itself, another one waits for it: how real kernels hand a tile over.
void Generator::hand_over() {
  const int to = static_cast<int>(below(kWarps));
  const uint32_t owner = some_owner();
  const LaneMask all = world_.live(owner, to);
  if ((owner == cta_ && to == warp_) || all == 0 || world_.blocked(owner, to) != 0) return;
  const int how = static_cast<int>(below(3));
  if (owner != cta_ && how == 1) return;  // cp.async signals its own CTA
  const int needed = how == 2 ? 1 : __builtin_popcount(lanes_);
  FuzzObject& object = some_object(owner);
  if (!object.live && owner != cta_) return;
  if (!object.live) init(object, needed);
  if (object.pending != needed || object.bytes != 0) return;
  const uint32_t before = object.phase;
  if (!bring(object, how) || object.phase == before) return;
  cta_ = owner;
  warp_ = to;
  const bool acquire = often(85);
  const Scope scope = often(80) ? Scope::kCluster : Scope::kCta;
  note("wait", all,
       fmt::format("object {} phase {} acquire {} scope {}", object.offset, object.phase, acquire,
                   static_cast<int>(scope)));
  world_.wait(cta_, warp_, all, object, acquire, scope);
}

void Generator::rare_object_event(FuzzObject& object) {
  const int lane = one_lane(lanes_);
  const std::string place = fmt::format("object {}", object.offset);
  if (object.cta == cta_ && often(40)) {
    if (!world_.is_quiet(cta_, object)) return;
    note("inval", 1u << lane, place);
    return world_.inval(cta_, warp_, lane, object);
  }
  if (object.pending == 0) return;
  note("complete_tx", 1u << lane, place);
  world_.complete_tx(cta_, warp_, 1u << lane, object);
}

bool Generator::step() {
  pick_warp();
  if (lanes_ == 0) return false;
  const Character& c = character_;
  uint64_t pick = below(c.access + c.sync + c.barrier + c.mbarrier + c.hand_over + c.copies +
                        c.bulk + c.fence + c.tensor + c.grid_wait + c.cluster + c.finish + c.exit);
  const auto take = [&](uint32_t weight) {
    if (pick < weight) return true;
    pick -= weight;
    return false;
  };
  if (take(c.access))
    data_access();
  else if (take(c.sync))
    synchronise();
  else if (take(c.barrier))
    named_barrier();
  else if (take(c.mbarrier))
    object_event();
  else if (take(c.hand_over))
    hand_over();
  else if (take(c.copies))
    copy_event();
  else if (take(c.bulk))
    bulk_event();
  else if (take(c.tensor))
    tensor_event();
  else if (take(c.grid_wait))
    grid_wait_event();
  else if (take(c.cluster))
    cluster_event();
  else if (take(c.fence)) {
    fence_event();
  } else if (take(c.finish)) {
    if (!world_.in_flight()) return true;
    world_.next_event("something in flight finishes");
    world_.finish_something(random_);
  } else if (lanes_ == world_.live(cta_, warp_) && __builtin_popcount(lanes_) > 8) {
    const LaneMask lanes = some_lanes(lanes_);
    if (lanes == 0 || lanes == lanes_ || !world_.barrier_free(cta_, warp_)) return true;
    note("exit", lanes);
    world_.exit_lanes(cta_, warp_, lanes);
  }
  return true;
}

// The next grid follows those before it, or some of them, or runs beside them all.
void Generator::next_grid() {
  if (often(60)) world_.end_grids(often(50));
  world_.begin_grid(often(40), character_.cluster != 0 && often(80));
  world_.next_event(
      fmt::format("grid {} begins, {} run", world_.grids_begun() - 1, world_.grids_running()));
}

FuzzResult Generator::run(FuzzCounts& counts, bool closely) {
  world_.begin_grid(false, character_.cluster != 0);
  const int first_switch = often(35) ? character_.events / 3 : -1;
  const int second_switch = often(50) ? character_.events * 2 / 3 : -1;
  int stuck = 0;
  for (int i = 0; i < character_.events && stuck < 50; ++i) {
    if (i == first_switch || i == second_switch) next_grid();
    // What a dependent grid waits for ends while it runs.
    if (i == second_switch + 20 && world_.grids_running() > 1) world_.end_grids(true);
    stuck = step() ? 0 : stuck + 1;
    if (!closely && i + 1 < character_.events && stuck < 50) continue;
    const std::string difference = world_.compare();
    if (!difference.empty()) return {difference, world_.trace};
  }
  world_.count(counts);
  return {};
}

FuzzResult fuzz_program(uint64_t seed, FuzzCounts& counts) {
  const FuzzResult result = Generator(seed).run(counts, false);
  if (result.disagreement.empty()) return result;
  const FuzzResult close = Generator(seed).run(counts, true);
  return close.disagreement.empty() ? result : close;
}

}  // namespace lw::reference_order
