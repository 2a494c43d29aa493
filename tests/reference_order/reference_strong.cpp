// Strong accesses of the naive engine: a word keeps every write that a reader observes, each with
// what it and the fences before it published.

#include <algorithm>

#include "reference.h"

namespace lw::reference_order {
namespace {

bool wide(Scope scope) { return scope == Scope::kGpu || scope == Scope::kSys; }

}  // namespace

void Reference::fence(int lane, FenceKind kind, Scope scope) {
  LaneState& me = state(lane);
  if (kind != FenceKind::kRelease) {
    for (const WordWrite& write : me.observed) acquire_from(lane, write, scope);
  }
  if (kind == FenceKind::kAcquire) return;
  ++me.events;
  if (wide(scope)) me.wide_fences.push_back(me.events);
  std::erase_if(me.fences, [&](const auto& fence) { return fence.first <= scope; });
  me.fences.push_back({scope, publish_across(lane)});
}

void Reference::forget_overwritten(const ByteKey& key) {
  const Byte& byte = bytes_[key];
  if (!byte.dead && byte.last_write_weak) words_.erase(key);
}

void Reference::acquire_from(int lane, const WordWrite& write, Scope scope) {
  const int by = lane_index(write.cta, 0, 0);
  const auto reaches = [&](Scope release) {
    return includes(release, by, lane) && includes(scope, by, lane);
  };
  if (write.release && reaches(write.scope)) learn(lane, write.views, true);
  for (const auto& [release, views] : write.fences) {
    if (reaches(release)) learn(lane, views, true);
  }
}

void Reference::check_word(const std::vector<WordEvent>& before, const StrongCall& call) {
  bool forced = true;
  for (const WordEvent& event : before) {
    if (event.instruction == instruction_) continue;
    for (int lane : call.lanes) {
      forced &= grid_over(event.lane, lane) || knows_grid_end(kC, lane, event.lane) ||
                lane_knows_event(lane, {event.lane, event.event});
    }
  }
  if (!forced) ++unforced[RuleId::kD5];
}

void Reference::sight(const Word& word, const StrongCall& call) {
  for (const WordWrite& write : word.chain) {
    if (!write.observed || write.bytes != call.bytes) continue;
    for (int lane : call.lanes) {
      const bool same_cta = write.cta == cta_of(lane);
      if (same_cta || (wide(write.scope) && wide(call.scope)))
        sightings_[call.word].push_back({write.lane, write.instruction, lane, state(lane).events});
    }
  }
}

void Reference::read_word(Word& word, const StrongCall& call) {
  if (call.live) sight(word, call);
  if (call.live && call.kind == Kind::kAtomic && call.lanes.size() > 1) {
    ++unforced[RuleId::kD5];
  } else if (call.live) {
    check_word(word.writes, call);
  }
  for (int lane : call.lanes) {
    if (call.live) word.live_reads.push_back({lane, state(lane).events, instruction_});
    for (const WordWrite& write : word.chain) {
      if (write.release) state(lane).views[kE].join(write.views[kE]);
      for (const auto& [scope, views] : write.fences) state(lane).views[kE].join(views[kE]);
      state(lane).views[kE].join(write.tensor);
      state(lane).views[kC].join(write.views[kC]);
      if (acquires(call.strength)) acquire_from(lane, write, call.scope);
      if (!acquires(call.strength) && call.live) state(lane).observed.push_back(write);
    }
  }
}

void Reference::write_word(Word& word, const StrongCall& call) {
  check_word(word.live_reads, call);
  if (call.kind == Kind::kWrite && word.last_writer != call.lanes) word.chain.clear();
  const bool plain = call.kind == Kind::kWrite;
  if (plain)
    for (WordWrite& write : word.chain) write.observed = false;
  word.last_writer = call.lanes;
  for (int lane : call.lanes) {
    ++state(lane).events;
    auto fences = state(lane).fences;
    Views inits;
    for (int view : {kH, kE, kC})
      for (uint32_t id : state(lane).fenced_inits) inits[view].learn_milestone(id);
    fences.push_back({std::min(call.scope, Scope::kCluster), inits});
    WordWrite write{cta_of(lane), releases(call.strength),
                    call.scope,   publish_across(lane),
                    fences,       state(lane).tensor,
                    lane,         instruction_,
                    call.bytes,   !plain || call.lanes.size() == 1};
    word.chain.push_back(write);
    word.writes.push_back({lane, state(lane).events, instruction_});
  }
}

void Reference::synchronise(const StrongCall& call) {
  Word& word = words_[call.word];
  if (call.kind != Kind::kWrite) read_word(word, call);
  if (call.kind != Kind::kRead) write_word(word, call);
}

}  // namespace lw::reference_order
