#include "program/flow.h"

#include <algorithm>

namespace lw::program {

using Kind = FlatInstruction::Kind;

namespace {

bool falls_through(const FlatInstruction& instruction) {
  bool leaves = instruction.kind == Kind::jump || instruction.kind == Kind::select ||
                instruction.kind == Kind::choose || instruction.kind == Kind::exit;
  return !leaves || (instruction.source != nullptr && instruction.source->guarded);
}

}  // namespace

Flow::Flow(const FlatCode& code)
    : after_(code.instructions.size()), before_(code.instructions.size()) {
  for (uint32_t i = 0; i < size(); ++i) {
    const FlatInstruction& instruction = code.instructions[i];
    auto edge = [&](uint32_t to) {
      if (to >= size() || std::ranges::count(after_[i], to) != 0) return;
      after_[i].push_back(to);
      before_[to].push_back(i);
    };
    if (falls_through(instruction)) edge(i + 1);
    if (instruction.kind == Kind::jump) edge(code.labels[instruction.label]);
    for (uint32_t target : instruction.targets) edge(code.labels[target]);
  }
}

std::vector<Loop> Flow::loops() const {
  std::vector<Loop> result;
  for (uint32_t i = 0; i < size(); ++i)
    for (uint32_t to : after_[i])
      if (to <= i) result.push_back(loop_of(to, i));
  return result;
}

Loop Flow::loop_of(uint32_t header, uint32_t latch) const {
  std::vector<uint32_t> work{latch};
  std::vector<char> inside(size(), 0);
  inside[header] = 1;
  while (!work.empty()) {
    uint32_t at = work.back();
    work.pop_back();
    if (inside[at]) continue;
    inside[at] = 1;
    work.insert(work.end(), before_[at].begin(), before_[at].end());
  }
  Loop loop{.header = header, .body = {}, .exits = {}};
  for (uint32_t i = 0; i < size(); ++i) {
    if (!inside[i]) continue;
    loop.body.push_back(i);
    if (std::ranges::any_of(after_[i], [&](uint32_t to) { return !inside[to]; }))
      loop.exits.push_back(i);
  }
  return loop;
}

}  // namespace lw::program
