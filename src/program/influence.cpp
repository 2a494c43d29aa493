#include "program/influence.h"

#include <algorithm>
#include <optional>
#include <set>

#include "program/flow.h"
#include "program/operands.h"
#include "ptx/forms.h"

namespace lw::program {
namespace {

using Kind = FlatInstruction::Kind;
using ptx::Effect;
using ptx::FormId;
using Registers = std::set<uint32_t>;  // virtual registers

// What the slice asks of one instruction.
struct Node {
  std::vector<uint32_t> reads;    // values that it computes with, guard and addresses apart
  std::vector<uint32_t> address;  // bases of addresses
  std::vector<uint32_t> writes;
  std::optional<uint32_t> guard;
  Effect effect = Effect::none;
  FormId form = FormId::none;
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
  return effect == Effect::load &&
         (opcode.has(Mod::_volatile) || opcode.has(Mod::relaxed) || opcode.has(Mod::acquire));
}

class Slicer {
 public:
  Slicer(const ptx::Module& module, const FlatCode& code)
      : module_(module), code_(code), flow_(code), nodes_(code.instructions.size()) {
    for (uint32_t i = 0; i < nodes_.size(); ++i) describe(i);
    for (const Loop& loop : flow_.loops())
      if (is_pure(loop)) pure_.push_back(loop);
    readers_.resize(code.registers.size() + 1);
    for (uint32_t i = 0; i < nodes_.size(); ++i) index_readers(i);
  }

  std::vector<Influence> run() const {
    std::vector<Influence> result;
    for (uint32_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].cause) result.push_back(follow(i));
    return result;
  }

 private:
  const ptx::Function& function_of(const FlatInstruction& flat) const {
    return module_.functions[code_.frames[flat.frame].function.value];
  }

  void describe(uint32_t index) {
    const FlatInstruction& flat = code_.instructions[index];
    if (flat.source == nullptr) return;
    Node& node = nodes_[index];
    const ptx::Function& function = function_of(flat);
    const ptx::Opcode& opcode = module_.opcode_of(*flat.source);
    node.form = opcode.form;
    node.effect = ptx::row_of(opcode.form).effect;
    if (flat.source->guarded) node.guard = code_.virtual_of(flat.frame, flat.source->guard);
    auto operands = function.operands_of(*flat.source);
    bool result_first = writes_first(node, opcode);
    for (size_t i = 0; i < operands.size(); ++i)
      add_operand(node, flat.frame, function, operands[i], i == 0 && result_first);
    add_condition_code(node, opcode);
    add_cause(node, opcode);
  }

  // The condition code of add.cc and its kin is a register that has no name: the last one.
  void add_condition_code(Node& node, const ptx::Opcode& opcode) const {
    const auto code = static_cast<uint32_t>(code_.registers.size());
    const std::string_view name = mnemonic(opcode);
    if (opcode.has(ptx::Mod::cc)) node.writes.push_back(code);
    if (name == "addc" || name == "subc" || name == "madc") node.reads.push_back(code);
  }

  // Whether operand 0 is written. Where it may be both (accumulators), it is read as well.
  static bool writes_first(const Node& node, const ptx::Opcode& opcode) {
    if (has_only_result_first(opcode)) return true;
    return node.effect != Effect::store && node.effect != Effect::control &&
           node.effect != Effect::async && node.effect != Effect::fence;
  }

  void add_operand(Node& node, uint32_t frame, const ptx::Function& function,
                   const ptx::Operand& operand, bool result) {
    bool in_address = operand.kind == ptx::OperandKind::address;
    for_each_register(function, operand, [&](const ptx::Operand& element) {
      uint32_t first = code_.virtual_of(frame, element.reg());
      uint32_t parts = slots_of(function.registers[element.reg().value]);
      bool is_address = in_address || element.kind == ptx::OperandKind::address;
      std::vector<uint32_t>& list = is_address ? node.address : result ? node.writes : node.reads;
      for (uint32_t part = 0; part < parts; ++part) list.push_back(first + part);
    });
    find_special(node, function, operand);
  }

  void find_special(Node& node, const ptx::Function& function, const ptx::Operand& operand) {
    if (operand.kind == ptx::OperandKind::special && !node.cause)
      node.cause = cause_of_special(operand.special());
    if (operand.kind == ptx::OperandKind::vector)
      for (const ptx::Operand& element : function.elements_of(operand))
        find_special(node, function, element);
  }

  static void add_cause(Node& node, const ptx::Opcode& opcode) {
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

  // Does nothing but test, and leaves to one place.
  bool is_pure(const Loop& loop) const {
    std::set<uint32_t> targets;
    for (uint32_t exit : loop.exits)
      for (uint32_t to : flow_.after(exit))
        if (!std::ranges::binary_search(loop.body, to)) targets.insert(skip_jumps(to));
    return targets.size() == 1 &&
           std::ranges::all_of(loop.body, [&](uint32_t i) { return is_harmless(i); });
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
    return std::ranges::any_of(pure_, [&](const Loop& loop) {
      return std::ranges::binary_search(loop.body, test) && !loop.exits.empty() &&
             std::ranges::all_of(loop.exits, [&](uint32_t exit) {
               std::set<uint32_t> path;
               bool uses_test = false;
               const Node& node = nodes_[exit];
               return node.guard && depends_only_on(*node.guard, test, loop, path, uses_test) &&
                      uses_test;
             });
    });
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
    const Node& source = nodes_[origin];
    Influence influence{.cause = *source.cause,
                        .made_at = base::OpId(code_.instructions[origin].place),
                        .arrival = Arrival::nowhere,
                        .arrived_at = {}};
    if (source.cause == Cause::mbarrier_test && is_wait(origin)) return influence;
    if (source.cause == Cause::register_pool || source.cause == Cause::tensor_columns ||
        source.cause == Cause::mbarrier_test) {
      // The pool makes it wait where it stands; a test outside a wait acquires or does not.
      arrive(influence, Arrival::control, origin);
      return influence;
    }
    Registers tainted(source.writes.begin(), source.writes.end());
    std::vector<uint32_t> work = source.writes;
    while (!work.empty()) {
      uint32_t reg = work.back();
      work.pop_back();
      for (uint32_t reader : readers_[reg]) {
        note(influence, reader, tainted);
        for (uint32_t written : nodes_[reader].writes)
          if (tainted.insert(written).second) work.push_back(written);
      }
    }
    return influence;
  }

  void note(Influence& influence, uint32_t at, const Registers& tainted) const {
    const Node& node = nodes_[at];
    auto any = [&](const std::vector<uint32_t>& list) {
      return std::ranges::any_of(list, [&](uint32_t reg) { return tainted.contains(reg); });
    };
    const FlatInstruction& flat = code_.instructions[at];
    bool moves = flat.kind == Kind::jump || flat.kind == Kind::select || flat.kind == Kind::exit;
    if (moves) {
      if (!in_pure_loop(at)) arrive(influence, Arrival::control, at);
      return;
    }
    bool acts = node.effect != Effect::none;
    bool guarded = node.guard && tainted.contains(*node.guard);
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
  std::vector<Node> nodes_;
  std::vector<Loop> pure_;
  std::vector<std::vector<uint32_t>> readers_;  // by virtual register
};

}  // namespace

std::vector<Influence> find_influences(const ptx::Module& module, const FlatCode& code) {
  return Slicer(module, code).run();
}

}  // namespace lw::program
