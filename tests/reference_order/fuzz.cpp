#include "fuzz.h"

#include <fmt/format.h>

#include <algorithm>

#include "world.h"

namespace lw::reference_order {
namespace {

// What a program is made of: how often each kind of event, drawn once per program so that programs
// differ in character.
struct Character {
  uint32_t access, sync, barrier, mbarrier, copies, bulk, fence, finish, exit;
  uint32_t races_kept;  // one of so many accesses that would race is kept
  bool narrow;          // bytes and halves too
  bool strong;          // relaxed atomics and strong loads
  bool matrices;
  int events;
};

class Generator {
 public:
  explicit Generator(uint64_t seed)
      : random_(seed * 0x9e3779b97f4a7c15u + 1),
        character_(draw_character()),
        world_(seed, below(4) == 0, below(3) == 0 ? 20 : 1 << 16, below(6) == 0) {}

  // `closely`: compare after every event, to find the first that differs.
  FuzzResult run(FuzzCounts& counts, bool closely);

 private:
  uint64_t below(uint64_t bound) { return random_() % bound; }
  bool often(int percent) { return below(100) < static_cast<uint64_t>(percent); }
  // Most accesses that would race are dropped.
  bool drops() { return below(character_.races_kept) != 0; }
  Character draw_character();
  LaneMask some_lanes(LaneMask from);
  int one_lane(LaneMask from);
  bool step();
  void pick_warp();
  void data_access();
  Strength strength(Kind kind);
  void fence_event();
  Instruction memory(bool global, uint32_t bytes);
  void spread_addresses(Instruction& what);
  void spread_rows(Instruction& what);
  void synchronise();
  void named_barrier();
  void object_event();
  void copy_event();
  void bulk_event();
  Range range(bool global, uint32_t bytes);
  static std::string describe(const Instruction& what);
  void note(const char* what, LaneMask lanes, const std::string& more = {});

  std::mt19937_64 random_;
  Character character_;
  World world_;
  uint64_t last_copy_[2] = {0,
                            World::kGlobalBase};  // shared and global place of the last bulk copy
  uint32_t grid_ = 0;
  uint32_t cta_ = 0;
  int warp_ = 0;
  LaneMask lanes_ = 0;  // that can act
};

Character Generator::draw_character() {
  Character c{};
  const auto weight = [&] { return static_cast<uint32_t>(below(4) == 0 ? 0 : below(12)); };
  c.access = 20 + weight();
  c.sync = weight();
  c.barrier = weight();
  c.mbarrier = weight() * 2;
  c.copies = weight();
  c.bulk = weight();
  c.fence = weight();
  c.finish = 4;
  c.exit = below(8) == 0 ? 1 : 0;
  const uint32_t kept[] = {1, 8, 30, 200};
  c.races_kept = kept[below(4)];
  c.narrow = below(3) == 0;
  c.strong = below(3) == 0;
  c.matrices = below(2) == 0;
  c.events = static_cast<int>(100 + below(200));
  return c;
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

std::string Generator::describe(const Instruction& what) {
  const LaneMask lanes = what.form == Instruction::Form::kMatrix ? what.row_lanes : what.lanes;
  std::string text =
      fmt::format("form {} bytes {} at {} kind {}", static_cast<int>(what.form), what.bytes,
                  what.address[__builtin_ctz(lanes)], static_cast<int>(what.kind));
  if (what.strong) {
    text += fmt::format(" strength {} scope {} live {}", static_cast<int>(what.strength),
                        static_cast<int>(what.scope), what.live);
  }
  return text;
}

void Generator::pick_warp() {
  cta_ = grid_ * 2 + static_cast<uint32_t>(below(2));
  warp_ = static_cast<int>(below(kWarps));
  lanes_ = world_.live(cta_, warp_) & ~world_.blocked(cta_, warp_);
}

Range Generator::range(bool global, uint32_t bytes) {
  const uint64_t space = global ? World::kGlobalBytes : World::kSharedBytes;
  const uint64_t base = global ? World::kGlobalBase : 0;
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

Instruction Generator::memory(bool global, uint32_t bytes) {
  Instruction what;
  what.cta = cta_;
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
  return what;
}

Strength Generator::strength(Kind kind) {
  if (often(40)) return Strength::kRelaxed;
  if (kind == Kind::kRead) return Strength::kAcquire;
  if (kind == Kind::kWrite) return Strength::kRelease;
  const Strength any[] = {Strength::kAcquire, Strength::kRelease, Strength::kAcqRel};
  return any[below(3)];
}

void Generator::fence_event() {
  const LaneMask lanes = some_lanes(lanes_);
  if (lanes == 0) return;
  if (character_.strong && often(60)) {
    const FenceKind kinds[] = {FenceKind::kAcqRel, FenceKind::kAcquire, FenceKind::kRelease,
                               FenceKind::kSc};
    const FenceKind kind = kinds[below(4)];
    const Scope scope = often(50) ? Scope::kGpu : Scope::kCta;
    note("fence", lanes,
         fmt::format("kind {} scope {}", static_cast<int>(kind), static_cast<int>(scope)));
    return world_.fence(cta_, warp_, lanes, kind, scope);
  }
  const auto spaces = static_cast<FenceSpaces>(1 + below(3));
  note("fence.proxy.async", lanes, fmt::format("spaces {}", static_cast<int>(spaces)));
  world_.fence_proxy(cta_, warp_, lanes, spaces);
}

void Generator::data_access() {
  const uint32_t wide[] = {4, 4, 4, 8, 16};
  const uint32_t narrow[] = {1, 2, 4, 8, 2};
  const uint32_t bytes = (character_.narrow && often(40) ? narrow : wide)[below(5)];
  Instruction what = memory(often(30), bytes);
  what.kind = often(45) ? Kind::kWrite : Kind::kRead;
  if (character_.strong && often(40) && (bytes == 4 || bytes == 8)) {
    what.strong = true;
    what.kind = often(40) ? Kind::kAtomic : what.kind;
    what.scope = often(50) ? Scope::kGpu : Scope::kCta;
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
  if (drops() && world_.would_race(what)) return;
  note(what.kind == Kind::kRead ? "read" : "write", what.lanes, describe(what));
  world_.access(what);
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
  FuzzObject& object = world_.object(cta_, static_cast<int>(below(World::kObjects)));
  if (!object.live) {
    const int counts[] = {1, 2, 32, 33, 64, 96};
    object.expected = counts[below(6)];
    const int lane = one_lane(lanes_);
    note("init", 1u << lane, fmt::format("object {} count {}", object.offset, object.expected));
    return world_.init(cta_, warp_, lane, object);
  }
  LaneMask lanes = some_lanes(lanes_);
  if (lanes == 0) return;
  const uint64_t kind = below(10);
  if (kind < 4) {
    while (__builtin_popcount(lanes) > object.pending) lanes &= lanes - 1;
    if (lanes == 0) return;
    const bool release = often(75);
    note("arrive", lanes, fmt::format("object {} release {}", object.offset, release));
    world_.arrive(cta_, warp_, lanes, object, release);
  } else if (kind < 5) {
    if (object.pending == 0) return;
    lanes = 1u << one_lane(lanes_);
    note("expect", lanes, fmt::format("object {}", object.offset));
    world_.expect(cta_, warp_, lanes, object);
  } else {
    const bool acquire = often(75);
    note("wait", lanes,
         fmt::format("object {} phase {} acquire {}", object.offset, object.phase, acquire));
    world_.wait(cta_, warp_, lanes, object, acquire);
  }
}

void Generator::copy_event() {
  const LaneMask lanes = often(40) ? lanes_ : some_lanes(lanes_);
  if (lanes == 0) return;
  const uint64_t kind = below(10);
  if (kind < 4) {
    const uint32_t bytes = often(50) ? 16 : 4;
    Instruction to = memory(false, bytes);
    Instruction from = memory(true, bytes);
    from.lanes = to.lanes;
    if (drops() && world_.would_copy_race(to, from)) return;
    note("cp.async", to.lanes,
         fmt::format("bytes {} to {} from {}", bytes, to.address[__builtin_ctz(to.lanes)],
                     from.address[__builtin_ctz(to.lanes)]));
    return world_.cp_async(to, from);
  }
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

void Generator::bulk_event() {
  const int lane = one_lane(lanes_);
  const uint64_t kind = below(10);
  const uint32_t bytes = static_cast<uint32_t>(16 << below(5));
  const Range shared = range(false, bytes);
  const Range global = range(true, bytes);
  if (kind < 7) {
    const bool load = kind < 4;
    FuzzObject& object = world_.object(cta_, static_cast<int>(below(World::kObjects)));
    if (load && (!object.live || object.pending == 0)) return;
    if (drops() && world_.would_bulk_race(cta_, warp_, lane, shared, global, load)) {
      return;
    }
    const std::string where =
        fmt::format("shared {} global {} bytes {}", shared.base, global.base, bytes);
    note(load ? "bulk load" : "bulk store", 1u << lane, where);
    if (load) return world_.bulk_load(cta_, warp_, lane, object, shared, global);
    return world_.bulk_store(cta_, warp_, lane, shared, global, character_.strong && often(40));
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

bool Generator::step() {
  pick_warp();
  if (lanes_ == 0) return false;
  const Character& c = character_;
  uint64_t pick = below(c.access + c.sync + c.barrier + c.mbarrier + c.copies + c.bulk + c.fence +
                        c.finish + c.exit);
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
  else if (take(c.copies))
    copy_event();
  else if (take(c.bulk))
    bulk_event();
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

FuzzResult Generator::run(FuzzCounts& counts, bool closely) {
  world_.begin_grid(0);
  const int switch_at = often(40) ? character_.events * 2 / 3 : character_.events + 1;
  int stuck = 0;
  for (int i = 0; i < character_.events && stuck < 50; ++i) {
    if (i == switch_at) {
      world_.end_grid();
      world_.begin_grid(++grid_);
      world_.next_event("next grid");
    }
    stuck = step() ? 0 : stuck + 1;
    if (!closely && i + 1 < character_.events && stuck < 50) continue;
    const std::string difference = world_.compare();
    if (!difference.empty()) return {difference, world_.trace};
  }
  world_.count(counts);
  return {};
}

}  // namespace

FuzzResult fuzz_program(uint64_t seed, FuzzCounts& counts) {
  const FuzzResult result = Generator(seed).run(counts, false);
  if (result.disagreement.empty()) return result;
  const FuzzResult close = Generator(seed).run(counts, true);
  return close.disagreement.empty() ? result : close;
}

}  // namespace lw::reference_order
