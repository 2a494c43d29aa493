#include "program/influence.h"

#include <algorithm>
#include <optional>
#include <set>

#include "program/causes.h"
#include "program/flow.h"
#include "program/waits.h"

namespace lw::program {
namespace {

using Kind = FlatInstruction::Kind;
using ptx::Effect;
using Registers = std::set<uint32_t>;  // virtual registers

class Slicer {
 public:
  Slicer(const ptx::Module& module, const FlatCode& code)
      : code_(code), flow_(code), nodes_(describe_made(module, code)), waits_(code, flow_, nodes_) {
    readers_.resize(code.registers.size() + 1);
    for (uint32_t i = 0; i < nodes_.size(); ++i) index_readers(i);
  }

  std::vector<PollLoop> poll_loops() const {
    std::vector<PollLoop> result;
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].cause != Cause::strong_read || nodes_[i].effect != Effect::load) continue;
      PollLoop found{i, waits_.jumps_back(i)};
      if (!found.back.empty()) result.push_back(std::move(found));
    }
    return result;
  }

  std::vector<Influence> run() const {
    std::vector<Influence> result;
    for (uint32_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].cause) result.push_back(follow(i));
    return result;
  }

 private:
  void index_readers(uint32_t index) {
    const Node& node = nodes_[index];
    for (uint32_t reg : node.reads) readers_[reg].push_back(index);
    for (uint32_t reg : node.address) readers_[reg].push_back(index);
    if (node.guard) readers_[*node.guard].push_back(index);
  }

  Influence follow(uint32_t origin) const {
    const Made& source = nodes_[origin];
    Influence influence{.cause = *source.cause,
                        .made_at = base::OpId(code_.instructions[origin].place),
                        .arrival = Arrival::nowhere,
                        .arrived_at = {}};
    const bool waits = waits_.is_wait(origin);
    Registers tainted = waits_.made_by_trips(origin);
    if (!waits || source.cause != Cause::mbarrier_test)
      tainted.insert(source.writes.begin(), source.writes.end());
    if (source.cause == Cause::register_pool || source.cause == Cause::tensor_columns) {
      arrive(influence, Arrival::control, origin);  // it makes it wait where it stands
      return influence;
    }
    // A loop that asks again without being a wait may give up at some time.
    if (source.cause == Cause::mbarrier_test && !waits)
      arrive(influence, waits_.in_pure_loop(origin) ? Arrival::control : Arrival::waits, origin);
    std::vector<uint32_t> work(tainted.begin(), tainted.end());
    const auto taint = [&](const std::vector<uint32_t>& registers) {
      for (uint32_t reg : registers)
        if (tainted.insert(reg).second) work.push_back(reg);
    };
    while (!work.empty()) {
      uint32_t reg = work.back();
      work.pop_back();
      for (uint32_t reader : readers_[reg]) {
        const std::optional<std::vector<uint32_t>> ways =
            source.cause == Cause::mbarrier_test ? ways_of(reader, origin) : std::nullopt;
        if (ways)
          for (uint32_t at : *ways) taint(nodes_[at].writes);
        else
          note(influence, reader, tainted);
        taint(nodes_[reader].writes);
      }
    }
    return influence;
  }

  static bool moves(const FlatInstruction& flat) {
    return flat.kind == Kind::jump || flat.kind == Kind::select || flat.kind == Kind::choose ||
           flat.kind == Kind::exit;
  }
  void note(Influence& influence, uint32_t at, const Registers& tainted) const {
    const Node& node = nodes_[at];
    auto any = [&](const std::vector<uint32_t>& list) {
      return std::ranges::any_of(list, [&](uint32_t reg) { return tainted.contains(reg); });
    };
    if (moves(code_.instructions[at])) {
      if (!waits_.in_pure_loop(at)) arrive(influence, Arrival::control, at);
      return;
    }
    bool acts = node.effect != Effect::none;
    bool guarded = node.guard && tainted.contains(*node.guard);
    if (guarded && influence.cause == Cause::mbarrier_test && is_test(node.form) &&
        !any(node.address) && !any(node.reads))
      return;  // a wait or not
    if (any(node.address) || (acts && guarded) ||
        (node.effect == Effect::barrier && any(node.reads)))
      arrive(influence, Arrival::control, at);
    else if (acts && any(node.reads))
      arrive(influence, Arrival::memory, at);
  }

  // --- branches that decide nothing but whether to wait ---

  // What may follow `from` without anything being done but tests and fences, and where that ends.
  struct Way {
    std::set<uint32_t> inside;
    std::set<uint32_t> ends;
  };
  Way way_from(uint32_t from) const {
    Way way;
    std::vector<uint32_t> work{from};
    while (!work.empty()) {
      uint32_t at = work.back();
      work.pop_back();
      if (at >= nodes_.size() || !waits_.is_harmless(at) || nodes_[at].effect == Effect::load) {
        way.ends.insert(at);
      } else if (way.inside.insert(at).second) {
        work.insert(work.end(), flow_.after(at).begin(), flow_.after(at).end());
      }
    }
    return way;
  }

  // If the ways from a branch all come to one instruction with nothing done before it: those that
  // are on some of the ways only. A way that asks `test` again may give up at some time.
  std::optional<std::vector<uint32_t>> ways_of(uint32_t branch, uint32_t test) const {
    const Kind kind = code_.instructions[branch].kind;
    if ((kind != Kind::jump && kind != Kind::select) || waits_.in_pure_loop(branch))
      return std::nullopt;
    std::vector<Way> ways;
    for (uint32_t to : flow_.after(branch)) ways.push_back(way_from(to));
    std::set<uint32_t> all;
    for (const Way& way : ways) {
      if (way.ends.size() != 1 || way.ends != ways.front().ends) return std::nullopt;
      all.insert(way.inside.begin(), way.inside.end());
    }
    if (all.contains(test)) return std::nullopt;
    std::vector<uint32_t> some;
    for (uint32_t at : all) {
      const auto has = [&](const Way& way) { return way.inside.contains(at); };
      // Around a loop through the branch all are passed as often as it says.
      if (all.contains(branch) || !std::ranges::all_of(ways, has)) some.push_back(at);
    }
    return some;
  }
  void arrive(Influence& influence, Arrival arrival, uint32_t at) const {
    base::OpId place(code_.instructions[at].place);
    if (arrival < influence.arrival) return;
    if (arrival == influence.arrival && influence.arrived_at <= place) return;
    influence.arrival = arrival;
    influence.arrived_at = place;
  }

  const FlatCode& code_;
  Flow flow_;
  std::vector<Made> nodes_;
  WaitLoops waits_;
  std::vector<std::vector<uint32_t>> readers_;  // by virtual register
};

}  // namespace

std::vector<PollLoop> find_poll_loops(const ptx::Module& module, const FlatCode& code) {
  const bool any = std::ranges::any_of(module.opcodes, [](const ptx::Opcode& opcode) {
    return is_strong_read(opcode, ptx::row_of(opcode.form).effect);
  });
  return any ? Slicer(module, code).poll_loops() : std::vector<PollLoop>();
}

std::vector<Influence> find_influences(const ptx::Module& module, const FlatCode& code) {
  return Slicer(module, code).run();
}

}  // namespace lw::program
