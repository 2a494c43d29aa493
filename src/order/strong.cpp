// Fences and strong accesses between threads (rule book 10; PTX ISA 8.8, 8.9).
//
// The machine runs one instruction after another, so a strong read observes the last write to its
// word, and through it the atomics and the plain write before them. A release (the access itself,
// or a fence before it) gives H to an acquire (the access itself, or a fence after it) where each
// scope includes the other thread; it gives E to any strong reader, and a relaxed write gives C
// alone.
//
// D-5: a live value is the same in every order only if the strong writes to the word are C-ordered
// with the read by other edges than this very observation, so it is asked before the reader learns.
//
// misses: the order among fence.sc (M-16); lanes of one atomic instruction on one word do not learn
// from each other (M-19).

#include "order/strong.h"

#include <algorithm>

#include "order/check.h"
#include "order/cluster.h"
#include "order/tensor.h"

namespace lw::order {
namespace {

constexpr size_t kMostEvents = 256;  // of each list of a word; beyond, D-5 counts as failed

bool reaches_cluster(Scope scope) { return scope != Scope::kCta; }

void join_neutral(Word::Neutral& into, uint32_t cta, const BundleRef& home, ViewSet views) {
  for (int v = 0; v < kViews; ++v) {
    if ((views >> v & 1) == 0) continue;
    ClockBuilder builder(into[v]);
    builder.join_from(cta, home.view(static_cast<View>(v)), kNoCta);
    into[v] = builder.finish();
  }
}

void learn_neutral(Warp& warp, LaneMask lanes, const Word::Neutral& neutral) {
  warp.split(lanes);
  for (LaneGroup& group : warp.groups) {
    if ((group.lanes & lanes) == 0) continue;
    for (int v = 0; v < kViews; ++v) {
      const View view = static_cast<View>(v);
      ClockBuilder builder(group.bundle.view(view));
      builder.join_neutral(neutral[v].get(), warp.cta->id);
      group.bundle = with_view(group.bundle, view, builder.finish());
    }
  }
}

const BundleRef& releases_of(const Word& word, uint32_t cta) {
  static const BundleRef kNone;
  for (const Word::Releases& one : word.by_cta) {
    if (one.cta == cta) return one.bundle;
  }
  return kNone;
}

const Word::Neutral& releases_in(const Word& word, uint32_t cluster) {
  static const Word::Neutral kNone;
  for (const Word::InCluster& one : word.by_cluster) {
    if (one.cluster == cluster) return one.releases;
  }
  return kNone;
}

void add_release(Word& word, const Cta& by, Scope scope, const Contribution& part) {
  const uint32_t cta = by.id;
  const BundleRef home = join_contributions({&part, 1}, {});
  auto at = std::find_if(word.by_cta.begin(), word.by_cta.end(),
                         [&](const Word::Releases& one) { return one.cta == cta; });
  if (at == word.by_cta.end()) at = word.by_cta.insert(at, {cta, {}});
  at->bundle = join(at->bundle, home);
  join_neutral(word.always, cta, home, kExecutionAndControl);
  if (reaches_other_ctas(scope)) join_neutral(word.wide, cta, home, kAllViews);
  if (by.cluster_size == 1 || !reaches_cluster(scope)) return;
  auto near = std::ranges::find(word.by_cluster, by.cluster, &Word::InCluster::cluster);
  if (near == word.by_cluster.end()) near = word.by_cluster.insert(near, {by.cluster, {}});
  join_neutral(near->releases, cta, home, kAllViews);
}

void remember(std::vector<Word::Event>& events, const Word::Event& now) {
  for (Word::Event& one : events) {
    if (one.cta == now.cta && one.event.warp == now.event.warp &&
        one.event.lanes == now.event.lanes) {
      one.repeated = true;
      one.before = one.event.count;
      one.event = now.event;
      one.execution = now.execution;
      return;
    }
  }
  if (events.size() < kMostEvents) events.push_back(now);
}

// A weak write has gone over the word since, so nobody observes what was there.
bool is_overwritten(Core& core, Warp& warp, const Access& access, uint64_t address) {
  Cta* const peer = core.peer_of(warp, access.cta);
  Block* at = core.region(warp, access.space, address, peer).at(address);
  int shift = kCoarse;
  if (core.shadow.is_split(*at)) {
    at = &core.shadow.fine(*at, static_cast<int>(address >> 5 & 3));
    shift = kFine;
  }
  const CellMask cell = 1u << (address >> shift & 31);
  const ObjectId writer = core.shadow.sole_writer(*at, cell);
  return writer >= kFirstObject && !core.objects[writer].strong;
}

}  // namespace

WarpStrong& strong_of(Warp& warp) {
  if (!warp.strong) warp.strong = std::make_unique<WarpStrong>();
  return *warp.strong;
}

bool knows(const Core& core, const Warp& warp, LaneMask lanes, const Word::Event& event,
           View view) {
  if (core.grid_is_over(*warp.cta, event.cta)) return true;
  if (event.cta == warp.cta->id) return knows_event(warp, lanes, event.event, view);
  for (const LaneGroup& group : warp.groups) {
    if ((group.lanes & lanes) == 0) continue;
    const Clock* clock = group.bundle.clock(view);
    if (clock == nullptr) return false;
    if (core.knows_grid_end(clock, *warp.cta, event.cta)) continue;
    if (!knows_event(clock, warp.cta->id, event.event)) return false;
  }
  return true;
}

Party party_of(const Word::Event& event, Kind kind) {
  Party party;
  party.op = event.event.op;
  party.cta = CtaId{event.cta};
  party.warp = WarpId{event.event.warp};
  party.lanes = event.event.lanes;
  party.kind = kind;
  party.epoch = event.event.count;
  party.execution = event.execution;
  return party;
}

namespace {

// One word under the lanes of one strong instruction that go to it.
class WordAccess {
 public:
  WordAccess(Core& core, Warp& warp, const Access& access, LaneMask lanes, uint64_t address)
      : core_(core),
        warp_(warp),
        access_(access),
        lanes_(lanes),
        address_(address),
        key_(core.word_key(access, warp, address)),
        word_(core.words[key_]),
        now_{warp.cta->id, event_now(warp, access.op, lanes), core.accesses() + 1,
             core.values != nullptr ? core.values->execution() : 0} {}

  void read() {
    if (access_.result_live) check_value();
    if (access_.result_live) word_.observations.read(visit());
    const BundleRef& same_cta = releases_of(word_, warp_.cta->id);
    learn(warp_, lanes_, same_cta, kExecutionAndControl);
    learn_neutral(warp_, lanes_, word_.always);
    if (acquires(access_.strength)) {
      learn(warp_, lanes_, same_cta);
      if (reaches_other_ctas(access_.scope)) learn_neutral(warp_, lanes_, word_.wide);
      if (reaches_cluster(access_.scope)) learn_neutral(warp_, lanes_, in_cluster());
      core_.log_sync(warp_, SyncStep::Kind::kStrongAcquire, access_.op, lanes_, place(), 0);
    } else if (access_.result_live) {
      keep_for_fence(same_cta);
    }
  }

  void write() {
    check_forced(word_.live_reads, Kind::kRead);
    poll_written(core_, warp_, word_, now_);
    const bool releases_to_all = releases(access_.strength) && reaches_other_ctas(access_.scope);
    chain_written(core_, warp_, word_, now_, releases_to_all && access_.kind == Kind::kWrite);
    const bool own = word_.last_writer.cta == now_.cta &&
                     word_.last_writer.event.warp == warp_.index &&
                     word_.last_writer.event.lanes == lanes_;
    if (access_.kind == Kind::kWrite && !own) {
      word_.by_cta.clear();
      word_.wide = word_.always = {};
      word_.by_cluster.clear();
    }
    warp_.since_control |= lanes_;
    add_fences();
    const bool release = releases(access_.strength);
    if (release) {
      core_.log_sync(warp_, SyncStep::Kind::kStrongRelease, access_.op, lanes_, place(), 0);
    }
    now_.event.count = warp_.count;
    word_.observations.write(visit(), access_.kind == Kind::kAtomic);
    const ViewSet views = release ? kAllViews : view_bit(View::kControl);
    if (auto fenced = carried_by_fence(core_, warp_, lanes_))
      add_release(word_, *warp_.cta, access_.scope, *fenced);
    if (auto inits = carried_inits(warp_, lanes_))
      add_release(word_, *warp_.cta, std::min(access_.scope, Scope::kCluster), *inits);
    add_release(word_, *warp_.cta, access_.scope, publish(warp_, lanes_, views));
    word_.last_writer = now_;
  }

  // Only now: an instruction is not compared with itself.
  void keep() {
    if (access_.kind != Kind::kRead) remember(word_.writes, now_);
    const bool live = access_.kind != Kind::kWrite && access_.result_live && !access_.poll;
    if (live) remember(word_.live_reads, now_);
  }

 private:
  Observations::Visit visit() const {
    return {now_.cta, now_.event, access_.scope, static_cast<uint8_t>(access_.element_bytes)};
  }

  uint32_t place() const { return static_cast<uint32_t>(address_); }

  void check_value() {
    if (access_.poll) return poll_read(core_, warp_, word_, key_, now_);
    const bool many = access_.kind == Kind::kAtomic && (lanes_ & (lanes_ - 1)) != 0;
    if (many) {
      core_.findings.unforced(fact(RuleId::kD5, now_, access_.kind));  // in no stated order (M-19)
    } else {
      check_forced(word_.writes, Kind::kWrite);
    }
  }

  // D-5, from the side of the event that comes second.
  void check_forced(const std::vector<Word::Event>& before, Kind kind) {
    for (const Word::Event& one : before) {
      if (before.size() < kMostEvents && knows(core_, warp_, lanes_, one)) continue;
      return core_.findings.unforced(fact(RuleId::kD5, one, kind));
    }
  }

  Unforced fact(RuleId rule, const Word::Event& before, Kind kind) const {
    Unforced fact;
    fact.rule = rule;
    fact.cta = CtaId{now_.cta};
    fact.object = place();
    fact.first = party_of(before, kind);
    fact.second = party_of(now_, access_.kind);
    fact.since = kind == Kind::kRead ? before.at : now_.at;  // the read may come out new
    return fact;
  }

  void add_fences() {
    if (!warp_.strong) return;
    for (const FenceRecord& fence : warp_.strong->fences) {
      const LaneMask lanes = fence.lanes & lanes_;
      if (lanes == 0) continue;
      const ViewSet views = kAllViews & ~view_bit(View::kControl);
      add_release(word_, *warp_.cta, fence.scope,
                  publish_at(fence.standing, lanes, fence.count, views));
    }
  }

  void keep_for_fence(const BundleRef& same_cta) {
    if (same_cta.get() == nullptr && !word_.wide[0] && !in_cluster()[0]) return;
    auto& pending = strong_of(warp_).pending;
    auto at = std::find_if(pending.begin(), pending.end(),
                           [&](const PendingAcquire& one) { return one.lanes == lanes_; });
    if (at == pending.end()) at = pending.insert(at, {lanes_, {}, {}, {}});
    at->same_cta = join(at->same_cta, same_cta);
    for (int v = 0; v < kViews; ++v) {
      at->cluster[v] = join(at->cluster[v], in_cluster()[v]);
      at->wide[v] = join(at->wide[v], word_.wide[v]);
    }
  }

  const Word::Neutral& in_cluster() const { return releases_in(word_, warp_.cta->cluster); }

  Core& core_;
  Warp& warp_;
  const Access& access_;
  LaneMask lanes_;
  uint64_t address_;
  WordKey key_;
  Word& word_;
  Word::Event now_;
};

void acquire_by_fence(Warp& warp, LaneMask lanes, Scope scope) {
  if (!warp.strong) return;
  for (PendingAcquire& pending : warp.strong->pending) {
    const LaneMask here = pending.lanes & lanes & warp.live;
    if (here == 0) continue;
    learn(warp, here, pending.same_cta);
    if (reaches_cluster(scope)) learn_neutral(warp, here, pending.cluster);
    if (reaches_other_ctas(scope)) learn_neutral(warp, here, pending.wide);
    pending.lanes &= ~(reaches_other_ctas(scope) ? lanes : 0);
  }
  std::erase_if(warp.strong->pending, [](const PendingAcquire& one) { return one.lanes == 0; });
}

void release_by_fence(Warp& warp, LaneMask lanes, Scope scope) {
  auto& fences = strong_of(warp).fences;
  for (FenceRecord& fence : fences) {
    if (fence.scope <= scope) fence.lanes &= ~lanes;  // the new one covers more and reaches as far
  }
  std::erase_if(fences, [](const FenceRecord& one) { return one.lanes == 0; });
  fences.push_back({lanes, scope, warp.count++, warp.snapshot()});
}

}  // namespace

void Engine::fence(Warp& warp, OpId op, LaneMask lanes, FenceKind kind, Scope scope) {
  if (kind != FenceKind::kRelease) {
    acquire_by_fence(warp, lanes, scope);
    core_->log_sync(warp, SyncStep::Kind::kStrongAcquire, op, lanes, 0, 0);
  }
  if (kind == FenceKind::kAcquire) return;
  core_->log_sync(warp, SyncStep::Kind::kStrongRelease, op, lanes, 0, 0);
  if (reaches_other_ctas(scope)) remember_fence(*core_, event_now(warp, op, lanes), warp);
  release_by_fence(warp, lanes, scope);
}

namespace {

// Calls `visit(lanes, address)` for each word of the instruction.
template <class Visit>
void each_word(const Access& access, const EachShape& each, Visit visit) {
  for (uint32_t element = 0; element < access.bytes; element += access.element_bytes) {
    LaneMask rest = access.lanes;
    while (rest != 0) {
      const uint64_t address = each.address[__builtin_ctz(rest)];
      LaneMask here = 0;
      for (int lane = 0; lane < kWarpSize; ++lane) {
        here |= static_cast<LaneMask>(each.address[lane] == address) << lane;
      }
      here &= rest;
      rest &= ~here;
      visit(here, address + element);
    }
  }
}

}  // namespace

void forget_overwritten(Core& core, Warp& warp, const Access& access, const EachShape& each) {
  each_word(access, each, [&](LaneMask, uint64_t address) {
    const auto at = core.words.find(core.word_key(access, warp, address));
    if (at == core.words.end() || !is_overwritten(core, warp, access, address)) return;
    Word fresh;
    if (at->second.version == 0)
      fresh.polls = std::move(at->second.polls);  // what they poll is what the weak write left
    else
      settle_polls(core, at->second, at->first);
    fresh.observations = std::move(at->second.observations);
    fresh.observations.cut();
    at->second = std::move(fresh);
  });
}

void synchronise(Core& core, Warp& warp, const Access& access, const EachShape& each) {
  each_word(access, each, [&](LaneMask lanes, uint64_t address) {
    WordAccess word(core, warp, access, lanes, address);
    if (access.kind != Kind::kWrite) word.read();
    if (access.kind != Kind::kRead) word.write();
    word.keep();
  });
}

}  // namespace lw::order
