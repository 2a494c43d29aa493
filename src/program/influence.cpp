#include "program/influence.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "program/flow.h"
#include "program/nodes.h"
#include "program/operands.h"
#include "ptx/forms.h"

namespace lw::program {
namespace {

using Kind = FlatInstruction::Kind;
using ptx::Effect;
using ptx::FormId;
using Registers = std::set<uint32_t>;  // virtual registers

// An instruction and what it makes of the schedule, if anything.
struct Made : Node {
  std::optional<Cause> cause;
};

bool is_test(FormId form) {
  return form == FormId::mbarrier_test_wait || form == FormId::mbarrier_test_wait_parity ||
         form == FormId::mbarrier_try_wait || form == FormId::mbarrier_try_wait_parity;
}

std::optional<Cause> cause_of_special(ptx::SpecialRegister special) {
  using S = ptx::SpecialRegister;
  switch (special) {
    case S::clock:
    case S::clock_hi:
    case S::clock64:
    case S::globaltimer:
    case S::globaltimer_lo:
    case S::globaltimer_hi:
      return Cause::clock;
    case S::smid:
    case S::nsmid:
    case S::warpid:
    case S::nwarpid:
      return Cause::placement;
    default:
      return std::nullopt;
  }
}

bool is_strong_read(const ptx::Opcode& opcode, Effect effect) {
  using ptx::Mod;
  if (effect == Effect::atomic) return mnemonic(opcode) == "atom";
  return effect == Effect::load && (opcode.has(Mod::_volatile) || opcode.has(Mod::relaxed) ||
                                    opcode.has(Mod::acquire) || opcode.has(Mod::mmio));
}

class Slicer {
 public:
  Slicer(const ptx::Module& module, const FlatCode& code)
      : module_(module), code_(code), flow_(code) {
    for (Node& node : describe_nodes(module, code)) nodes_.push_back({std::move(node), {}});
    for (uint32_t i = 0; i < nodes_.size(); ++i) find_cause(i);
    find_pure_loops();
    readers_.resize(code.registers.size() + 1);
    for (uint32_t i = 0; i < nodes_.size(); ++i) index_readers(i);
  }

  std::vector<PollLoop> poll_loops() const {
    std::vector<PollLoop> result;
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].cause != Cause::strong_read || nodes_[i].effect != Effect::load) continue;
      PollLoop found{i, {}};
      for (const Loop& loop : pure_)
        if (waits_in(loop, i)) add_jumps_back(loop, found.back);
      if (!found.back.empty() && std::ranges::all_of(found.back, [&](uint32_t at) {
            return code_.instructions[at].kind == Kind::jump;
          }))
        result.push_back(std::move(found));
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
  void find_cause(uint32_t index) {
    const FlatInstruction& flat = code_.instructions[index];
    if (flat.source == nullptr) return;
    Made& node = nodes_[index];
    const ptx::Function& function = module_.functions[code_.frames[flat.frame].function.value];
    for (const ptx::Operand& operand : function.operands_of(*flat.source))
      find_special(node, function, operand);
    add_cause(node, module_.opcode_of(*flat.source));
  }

  void find_special(Made& node, const ptx::Function& function, const ptx::Operand& operand) {
    if (operand.kind == ptx::OperandKind::special && !node.cause)
      node.cause = cause_of_special(operand.special());
    if (operand.kind == ptx::OperandKind::vector)
      for (const ptx::Operand& element : function.elements_of(operand))
        find_special(node, function, element);
  }

  static void add_cause(Made& node, const ptx::Opcode& opcode) {
    if (is_test(node.form)) node.cause = Cause::mbarrier_test;
    if (node.form == FormId::activemask) node.cause = Cause::active_lanes;
    if (node.form == FormId::setmaxnreg && opcode.has(ptx::Mod::inc))
      node.cause = Cause::register_pool;
    if (node.form == FormId::tcgen05_alloc) node.cause = Cause::tensor_columns;
    if (is_strong_read(opcode, node.effect) && !node.writes.empty())
      node.cause = Cause::strong_read;
  }

  void index_readers(uint32_t index) {
    const Node& node = nodes_[index];
    for (uint32_t reg : node.reads) readers_[reg].push_back(index);
    for (uint32_t reg : node.address) readers_[reg].push_back(index);
    if (node.guard) readers_[*node.guard].push_back(index);
  }

  // A poll that backs off goes around by several jumps, one after each kind of sleep: together they
  // are one loop. Those of a loop around it that starts at the same instruction are not among them.
  void find_pure_loops() {
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
  bool does_nothing(const Loop& loop) const {
    return std::ranges::all_of(loop.body, [&](uint32_t i) { return is_harmless(i); });
  }
  bool leaves_to_one_place(const Loop& loop) const {
    std::set<uint32_t> targets;
    for (uint32_t exit : loop.exits)
      for (uint32_t to : flow_.after(exit))
        if (!std::ranges::binary_search(loop.body, to)) targets.insert(skip_jumps(to));
    return targets.size() == 1;
  }
  bool is_harmless(uint32_t index) const {
    const FlatInstruction& flat = code_.instructions[index];
    if (flat.kind == Kind::jump || flat.kind == Kind::select) return true;
    const Node& node = nodes_[index];
    return flat.kind == Kind::plain &&
           (node.effect == Effect::none || node.effect == Effect::load ||
            node.effect == Effect::fence || is_test(node.form));
  }
  uint32_t skip_jumps(uint32_t at) const {
    for (int steps = 0; steps < 64; ++steps) {
      if (at >= flow_.size()) return at;
      const FlatInstruction& flat = code_.instructions[at];
      if (flat.kind != Kind::jump || flat.source == nullptr || flat.source->guarded) return at;
      at = code_.labels[flat.label];
    }
    return at;
  }

  // A test whose loop can only be left by its own result.
  bool is_wait(uint32_t test) const {
    return std::ranges::any_of(pure_, [&](const Loop& loop) { return waits_in(loop, test); });
  }
  bool waits_in(const Loop& loop, uint32_t test) const {
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
  void add_jumps_back(const Loop& loop, std::vector<uint32_t>& back) const {
    for (uint32_t at : flow_.before(loop.header)) {
      if (!std::ranges::binary_search(loop.body, at)) continue;
      const uint32_t jump = jump_towards(at, loop.header);
      if (std::ranges::count(back, jump) == 0) back.push_back(jump);
    }
  }
  // The way from `at` to `next` back to where a jump leads onto it; other instructions in vain.
  uint32_t jump_towards(uint32_t at, uint32_t next) const {
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
  Registers made_by_trips(uint32_t test) const {
    Registers made;
    for (const Loop& loop : pure_) {
      if (!waits_in(loop, test)) continue;
      for (uint32_t at : loop.body)
        if (at != test && !is_the_same_in_every_last_trip(at, test, loop))
          made.insert(nodes_[at].writes.begin(), nodes_[at].writes.end());
    }
    return made;
  }
  bool is_the_same_in_every_last_trip(uint32_t at, uint32_t test, const Loop& loop) const {
    return std::ranges::all_of(nodes_[at].writes, [&](uint32_t reg) {
      std::set<uint32_t> path;
      bool uses_test = false;
      return depends_only_on(reg, test, loop, path, uses_test) && is_on_every_way_out(at, loop);
    });
  }
  bool is_on_every_way_out(uint32_t at, const Loop& loop) const {
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
  bool depends_only_on(uint32_t reg, uint32_t test, const Loop& loop, std::set<uint32_t>& path,
                       bool& uses_test) const {
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

  Influence follow(uint32_t origin) const {
    const Made& source = nodes_[origin];
    Influence influence{.cause = *source.cause,
                        .made_at = base::OpId(code_.instructions[origin].place),
                        .arrival = Arrival::nowhere,
                        .arrived_at = {}};
    const bool waits = is_wait(origin);
    Registers tainted = made_by_trips(origin);
    if (!waits || source.cause != Cause::mbarrier_test)
      tainted.insert(source.writes.begin(), source.writes.end());
    if (source.cause == Cause::register_pool || source.cause == Cause::tensor_columns) {
      arrive(influence, Arrival::control, origin);  // it makes it wait where it stands
      return influence;
    }
    // A loop that asks again without being a wait may give up at some time.
    if (source.cause == Cause::mbarrier_test && !waits)
      arrive(influence, in_pure_loop(origin) ? Arrival::control : Arrival::waits, origin);
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
      if (!in_pure_loop(at)) arrive(influence, Arrival::control, at);
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
  bool in_pure_loop(uint32_t at) const {
    return std::ranges::any_of(
        pure_, [&](const Loop& loop) { return std::ranges::binary_search(loop.body, at); });
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
      if (at >= nodes_.size() || !is_harmless(at) || nodes_[at].effect == Effect::load) {
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
    if ((kind != Kind::jump && kind != Kind::select) || in_pure_loop(branch)) return std::nullopt;
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

  const ptx::Module& module_;
  const FlatCode& code_;
  Flow flow_;
  std::vector<Made> nodes_;
  std::vector<Loop> pure_;
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
