#include "program/flow.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace lw::program {

using Kind = FlatInstruction::Kind;

namespace {

bool falls_through(const FlatInstruction& instruction) {
  bool leaves = instruction.kind == Kind::jump || instruction.kind == Kind::select ||
                instruction.kind == Kind::choose || instruction.kind == Kind::invoke ||
                instruction.kind == Kind::leave || instruction.kind == Kind::exit;
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
    if (instruction.kind == Kind::jump || instruction.kind == Kind::invoke)
      edge(code.labels[instruction.label]);
    for (uint32_t target : instruction.targets) edge(code.labels[target]);
  }
}

std::vector<Loop> Flow::loops() const {
  std::vector<Loop> result;
  for (const auto& [from, to] : edges_back()) result.push_back(loop_of(to, from));
  return result;
}

// In a walk through the graph an edge goes back if the walk stands behind its target.
std::vector<std::pair<uint32_t, uint32_t>> Flow::edges_back() const {
  enum class State : uint8_t { unseen, entered, left };
  std::vector<State> states(size(), State::unseen);
  std::vector<std::pair<uint32_t, uint32_t>> found;
  struct Step {
    uint32_t at;
    size_t next = 0;
  };
  std::vector<Step> path;
  const auto enter = [&](uint32_t at) {
    states[at] = State::entered;
    path.push_back({at});
  };
  for (uint32_t start = 0; start < size(); ++start) {
    if (states[start] == State::unseen) enter(start);
    while (!path.empty()) {
      Step& step = path.back();
      if (step.next == after_[step.at].size()) {
        states[step.at] = State::left;
        path.pop_back();
        continue;
      }
      const uint32_t to = after_[step.at][step.next++];
      if (states[to] == State::entered) found.emplace_back(step.at, to);
      if (states[to] == State::unseen) enter(to);
    }
  }
  std::ranges::sort(found);
  return found;
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
  std::vector<uint32_t> body;
  for (uint32_t i = 0; i < size(); ++i)
    if (inside[i]) body.push_back(i);
  return loop_with(header, std::move(body));
}

Loop Flow::loop_with(uint32_t header, std::vector<uint32_t> body) const {
  Loop loop{.header = header, .body = std::move(body), .exits = {}};
  for (uint32_t at : loop.body)
    if (!std::ranges::all_of(
            after_[at], [&](uint32_t to) { return std::ranges::binary_search(loop.body, to); }))
      loop.exits.push_back(at);
  return loop;
}

Loop Flow::joined(const Loop& a, const Loop& b) const {
  std::vector<uint32_t> body;
  std::ranges::set_union(a.body, b.body, std::back_inserter(body));
  return loop_with(a.header, std::move(body));
}

}  // namespace lw::program
