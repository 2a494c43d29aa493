#include "program/waits.h"

#include <algorithm>
#include <map>

namespace lw::program {

using Kind = FlatInstruction::Kind;
using ptx::Effect;

WaitLoops::WaitLoops(const FlatCode& code, const Flow& flow, const std::vector<Made>& nodes)
    : code_(code), flow_(flow), nodes_(nodes) {
  find_pure_loops();
}

bool WaitLoops::in_pure_loop(uint32_t at) const {
  return std::ranges::any_of(
      pure_, [&](const Loop& loop) { return std::ranges::binary_search(loop.body, at); });
}

std::vector<uint32_t> WaitLoops::jumps_back(uint32_t test) const {
  std::vector<uint32_t> back;
  for (const Loop& loop : pure_)
    if (waits_in(loop, test)) add_jumps_back(loop, back);
  const bool all = std::ranges::all_of(
      back, [&](uint32_t at) { return code_.instructions[at].kind == Kind::jump; });
  return all ? back : std::vector<uint32_t>();
}

// A poll that backs off goes around by several jumps, one after each kind of sleep: together they
// are one loop. Those of a loop around it that starts at the same instruction are not among them.
void WaitLoops::find_pure_loops() {
  std::map<uint32_t, Loop> together;  // by header
  for (const Loop& loop : flow_.loops()) {
    if (!does_nothing(loop)) continue;
    if (leaves_to_one_place(loop)) pure_.push_back(loop);
    const auto [at, first] = together.try_emplace(loop.header, loop);
    if (!first) at->second = flow_.joined(at->second, loop);
  }
  for (const auto& [header, loop] : together)
    if (leaves_to_one_place(loop)) pure_.push_back(loop);
}

bool WaitLoops::does_nothing(const Loop& loop) const {
  return std::ranges::all_of(loop.body, [&](uint32_t i) { return is_harmless(i); });
}

bool WaitLoops::leaves_to_one_place(const Loop& loop) const {
  std::set<uint32_t> targets;
  for (uint32_t exit : loop.exits)
    for (uint32_t to : flow_.after(exit))
      if (!std::ranges::binary_search(loop.body, to)) targets.insert(skip_jumps(to));
  return targets.size() == 1;
}

bool WaitLoops::is_harmless(uint32_t index) const {
  const FlatInstruction& flat = code_.instructions[index];
  if (flat.kind == Kind::jump || flat.kind == Kind::select) return true;
  const Node& node = nodes_[index];
  return flat.kind == Kind::plain && (node.effect == Effect::none || node.effect == Effect::load ||
                                      node.effect == Effect::fence || is_test(node.form));
}

uint32_t WaitLoops::skip_jumps(uint32_t at) const {
  for (int steps = 0; steps < 64; ++steps) {
    if (at >= flow_.size()) return at;
    const FlatInstruction& flat = code_.instructions[at];
    if (flat.kind != Kind::jump || flat.source == nullptr || flat.source->guarded) return at;
    at = code_.labels[flat.label];
  }
  return at;
}

// A test whose loop can only be left by its own result.
bool WaitLoops::is_wait(uint32_t test) const {
  return std::ranges::any_of(pure_, [&](const Loop& loop) { return waits_in(loop, test); });
}

bool WaitLoops::waits_in(const Loop& loop, uint32_t test) const {
  return std::ranges::binary_search(loop.body, test) && !loop.exits.empty() &&
         std::ranges::all_of(loop.exits, [&](uint32_t exit) {
           std::set<uint32_t> path;
           bool uses_test = false;
           const Node& node = nodes_[exit];
           return node.guard && depends_only_on(*node.guard, test, loop, path, uses_test) &&
                  uses_test;
         });
}

// The jumps behind which lanes come to the header again and nowhere else.
void WaitLoops::add_jumps_back(const Loop& loop, std::vector<uint32_t>& back) const {
  for (uint32_t at : flow_.before(loop.header)) {
    if (!std::ranges::binary_search(loop.body, at)) continue;
    const uint32_t jump = jump_towards(at, loop.header);
    if (std::ranges::count(back, jump) == 0) back.push_back(jump);
  }
}

// The way from `at` to `next` back to where a jump leads onto it; other instructions in vain.
uint32_t WaitLoops::jump_towards(uint32_t at, uint32_t next) const {
  while (code_.instructions[at].kind != Kind::jump ||
         code_.labels[code_.instructions[at].label] != next) {
    if (flow_.before(at).size() != 1 || flow_.after(at).size() != 1) return at;
    next = at;
    at = flow_.before(at).front();
  }
  return at;
}

// How often a wait goes around is the schedule's doing, and so is what its trips leave in
// registers: counts, and whatever stands on some of the ways through it only.
std::set<uint32_t> WaitLoops::made_by_trips(uint32_t test) const {
  std::set<uint32_t> made;
  for (const Loop& loop : pure_) {
    if (!waits_in(loop, test)) continue;
    for (uint32_t at : loop.body)
      if (at != test && !is_the_same_in_every_last_trip(at, test, loop))
        made.insert(nodes_[at].writes.begin(), nodes_[at].writes.end());
  }
  return made;
}

bool WaitLoops::is_the_same_in_every_last_trip(uint32_t at, uint32_t test, const Loop& loop) const {
  return std::ranges::all_of(nodes_[at].writes, [&](uint32_t reg) {
    std::set<uint32_t> path;
    bool uses_test = false;
    return depends_only_on(reg, test, loop, path, uses_test) && is_on_every_way_out(at, loop);
  });
}

bool WaitLoops::is_on_every_way_out(uint32_t at, const Loop& loop) const {
  if (at == loop.header) return true;
  std::set<uint32_t> around{loop.header};
  std::vector<uint32_t> work{loop.header};
  while (!work.empty()) {
    const uint32_t from = work.back();
    work.pop_back();
    if (std::ranges::binary_search(loop.exits, from)) return false;
    for (uint32_t to : flow_.after(from))
      if (to != at && std::ranges::binary_search(loop.body, to) && around.insert(to).second)
        work.push_back(to);
  }
  return true;
}

// Everything that makes `reg` inside the loop is the test or computed from it, with nothing
// carried from trip to trip.
bool WaitLoops::depends_only_on(uint32_t reg, uint32_t test, const Loop& loop,
                                std::set<uint32_t>& path, bool& uses_test) const {
  for (uint32_t at : loop.body) {
    if (std::ranges::count(nodes_[at].writes, reg) == 0) continue;
    if (at == test) {
      uses_test = true;
      continue;
    }
    if (nodes_[at].effect != Effect::none || nodes_[at].cause || nodes_[at].guard) return false;
    if (!path.insert(at).second) return false;
    for (uint32_t source : nodes_[at].reads)
      if (!depends_only_on(source, test, loop, path, uses_test)) return false;
    path.erase(at);
  }
  return true;
}

}  // namespace lw::program
