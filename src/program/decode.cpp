#include "program/decode.h"

#include <algorithm>
#include <utility>

#include "program/bind_context.h"
#include "program/influence.h"
#include "program/layout.h"
#include "program/liveness.h"
#include "program/polls.h"
#include "program/procedures.h"
#include "program/slots.h"

namespace lw::program {
namespace {

using Kind = FlatInstruction::Kind;

// Emits the Ops of the whole program in order; jumps are patched once every label has its place.
class Emission {
 public:
  Emission(const ptx::Module& module, const FlatCode& code, SlotMap& slots,
           Environment& environment, Program& program)
      : module_(module),
        code_(code),
        environment_(environment),
        program_(program),
        slots_(slots),
        polls_(module, code),
        context_(module, code, slots, environment, program),
        label_at_(code.labels.size(), UINT32_MAX) {
    for (const PollLoop& loop : find_poll_loops(module, code)) {
      context_.polls.insert(&code.instructions[loop.load]);
      for (uint32_t back : loop.back) retries_[back] = code.instructions[loop.load].place;
    }
    for (uint32_t label = 0; label < code.labels.size(); ++label)
      labels_before_[code.labels[label]].push_back(label);
    mark_used_labels();
  }

  void run() {
    for (uint32_t i = 0; i <= code_.instructions.size(); ++i) {
      labels(i);
      if (i < code_.instructions.size()) instruction(i);
    }
    for (auto [op, label] : jumps_) link(op, label);
    for (auto [entry, label] : table_) program_.jump_table[entry] = to_index(label);
    for (uint32_t i = 0; i < code_.invocations.size(); ++i) link_invocation(i);
  }

 private:
  void mark_used_labels() {
    used_.assign(code_.labels.size(), 0);
    for (const FlatInstruction& flat : code_.instructions) {
      if (flat.kind == Kind::jump || flat.kind == Kind::invoke) used_[flat.label] = 1;
      for (uint32_t target : flat.targets) used_[target] = 1;
    }
  }

  // A label that is jumped to starts a block; what falls into it passes a join.
  void labels(uint32_t index) {
    auto found = labels_before_.find(index);
    if (found == labels_before_.end()) return;
    bool used = std::ranges::any_of(found->second, [&](uint32_t label) { return used_[label]; });
    if (used && index > 0 && index < code_.instructions.size())
      end_block(core(environment_.core().join, code_.instructions[index]), 0);
    for (uint32_t label : found->second) label_at_[label] = size();
  }

  void instruction(uint32_t index) {
    const FlatInstruction& flat = code_.instructions[index];
    context_.begin(flat);
    bool watched = environment_.is_watched(base::OpId(flat.place)) && flat.source != nullptr;
    if (watched) watch(environment_.core().watch, flat);
    dispatch(index, flat);
    if (watched) watch(environment_.core().watched, flat);
    context_.end();
  }

  void dispatch(uint32_t index, const FlatInstruction& flat) {
    switch (flat.kind) {
      case Kind::plain:
      case Kind::builtin:
        return plain(flat);
      case Kind::jump:
        return jump(index, flat);
      case Kind::select:
        return around_guard(flat, [&] { select(flat); });
      case Kind::choose:
        return choose(flat);
      case Kind::pass:
        return emit_pass(context_, slots_, environment_.core(), code_, code_.passes[flat.index]);
      case Kind::invoke:
      case Kind::leave:
        return to_procedure(flat);
      case Kind::exit:
        return around_guard(flat, [&] { end_block(core(environment_.core().exit, flat), 1); });
      case Kind::refused:
        return around_guard(flat, [&] { refuse(flat, flat.text); });
    }
  }

  // Binds the instruction. A guarded one narrows the running lanes; if it may park or split them,
  // the lanes whose guard is false branch around it instead.
  void plain(const FlatInstruction& flat) {
    ++since_;
    if (!flat.source->guarded) return bind(flat);
    uint32_t guard = size();
    Op& op = core(environment_.core().guard, flat);
    op.a = context_.guard();
    op.detail = flat.source->guard_negated ? kInverted : 0;
    context_.saw_control = module_.opcode_of(*flat.source).has(ptx::Mod::aligned);
    bind(flat);
    if (context_.saw_control) return branch_around(guard, flat);
    core(environment_.core().unguard, flat);
    program_.ops[guard].jump = static_cast<int32_t>(size() - guard);
  }

  void branch_around(uint32_t guard, const FlatInstruction& flat) {
    Op& op = program_.ops[guard];
    op.full = environment_.core().branch.full;
    op.masked = environment_.core().branch.masked;
    op.detail ^= kInverted;
    op.length = std::exchange(since_, 0) - 1;
    since_ = 1;
    end_block(core(environment_.core().join, flat), 0);
    program_.ops[guard].jump = static_cast<int32_t>(size() - guard);
  }

  void bind(const FlatInstruction& flat) {
    bool builtin = flat.kind == Kind::builtin;
    ptx::FormId form = module_.opcode_of(*flat.source).form;
    Bind bind = builtin ? environment_.builtin(flat.text) : environment_.bind(form);
    if (bind != nullptr) return bind(context_);
    context_.not_modelled(builtin ? "call of `" + flat.text + "`, which has no body" : "");
  }

  void refuse(const FlatInstruction&, const std::string& why) {
    ++since_;
    context_.not_modelled(why);
  }

  void jump(uint32_t index, const FlatInstruction& flat) {
    bool guarded = !flat.unconditional && flat.source->guarded;
    const CoreHandlers& handlers = environment_.core();
    uint32_t at = size();
    Op& op = core(guarded ? handlers.branch : handlers.jump, flat);
    if (guarded) {
      op.a = context_.guard();
      if (flat.source->guard_negated != flat.inverted) op.detail |= kInverted;
    }
    if (polls_.loop(code_.labels[flat.label], index)) op.detail |= kPolls;
    if (const auto again = retries_.find(index); again != retries_.end()) {
      op.detail |= kRetries;
      op.immediate = again->second;
    }
    end_block(op, flat.source != nullptr ? 1 : 0);
    jumps_.emplace_back(at, flat.label);
  }

  void to_procedure(const FlatInstruction& flat) {
    const CoreHandlers& handlers = environment_.core();
    const bool invokes = flat.kind == Kind::invoke;
    Op& op = core(invokes ? handlers.invoke : handlers.leave, flat);
    op.a = slots_.stack_pointer();
    op.b = slots_.frame_pointer();
    op.immediate = flat.index;
    end_block(op, invokes ? 1 : 0);
    if (invokes) program_.procedure_calls.push_back(procedure_call(code_, slots_, flat.index));
  }

  void link_invocation(uint32_t index) {
    ProcedureCall& call = program_.procedure_calls[index];
    call.start = to_index(code_.procedures[call.procedure].start_label);
    call.behind = to_index(code_.invocations[index].behind_label);
  }

  void select(const FlatInstruction& flat) {
    select_by(flat, context_.source(context_.operand(0), ptx::Type::u32));
  }

  // The lanes whose guard is false have gone around it.
  void choose(const FlatInstruction& flat) {
    const auto operands = context_.operands();
    const auto pointer = std::ranges::find(operands, ptx::OperandKind::reg, &ptx::Operand::kind);
    const Slot address = context_.source(*pointer, ptx::Type::u64);
    const Slot number = context_.temporary(ptx::Type::u32);
    Op& op = core(environment_.core().number_of_function, flat);
    op.d = number;
    op.a = address;
    op.immediate = module_.functions.size();
    select_by(flat, number);
  }

  void select_by(const FlatInstruction& flat, Slot slot) {
    Op& op = core(environment_.core().select, flat);
    op.a = slot;
    op.immediate = program_.jump_table.size();
    op.extra = static_cast<uint16_t>(flat.targets.size());
    end_block(op, 1);
    for (uint32_t target : flat.targets) {
      table_.emplace_back(program_.jump_table.size(), target);
      program_.jump_table.push_back(0);
    }
  }

  template <class Emit>
  void around_guard(const FlatInstruction& flat, Emit emit) {
    if (!flat.source || !flat.source->guarded) return emit();
    uint32_t at = size();
    Op& op = core(environment_.core().branch, flat);
    op.a = context_.guard();
    op.detail = flat.source->guard_negated ? 0 : kInverted;
    end_block(op, 0);
    emit();
    end_block(core(environment_.core().join, flat), 0);
    program_.ops[at].jump = static_cast<int32_t>(size() - at);
  }

  void watch(const Handlers& handlers, const FlatInstruction& flat) {
    Op& op = core(handlers, flat);
    if (flat.source->guarded) {
      op.a = context_.guard();
      op.detail = kHasGuard | (flat.source->guard_negated ? kInverted : 0);
    }
  }

  Op& core(const Handlers& handlers, const FlatInstruction& flat) {
    Op& op = program_.ops.emplace_back();
    op.full = handlers.full;
    op.masked = handlers.masked;
    op.instruction = base::OpId(flat.place);
    return op;
  }

  // `own`: instructions that this Op itself counts for.
  void end_block(Op& op, uint32_t own) { op.length = std::exchange(since_, 0) + own; }

  uint32_t size() const { return static_cast<uint32_t>(program_.ops.size()); }
  int32_t to_index(uint32_t label) const { return static_cast<int32_t>(label_at_[label]); }
  void link(uint32_t op, uint32_t label) {
    program_.ops[op].jump = to_index(label) - static_cast<int32_t>(op);
  }

  const ptx::Module& module_;
  const FlatCode& code_;
  Environment& environment_;
  Program& program_;
  SlotMap& slots_;
  Polls polls_;
  BindContext context_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> labels_before_;
  std::unordered_map<uint32_t, uint32_t> retries_;  // flat jump -> place of the polling load
  std::vector<uint32_t> label_at_;                  // flat label -> index of the Op
  std::vector<char> used_;
  std::vector<std::pair<uint32_t, uint32_t>> jumps_;  // Op, flat label
  std::vector<std::pair<size_t, uint32_t>> table_;    // entry of jump_table, flat label
  uint32_t since_ = 0;                                // instructions since the last end of a block
};

}  // namespace

constexpr uint64_t kFirstFunction = 0x1000;
constexpr uint64_t kFunctionStep = 16;

uint64_t address_of_function(ptx::FunctionId function) {
  return kFirstFunction + kFunctionStep * function.value;
}

std::optional<ptx::FunctionId> function_at(uint64_t address) {
  const uint64_t offset = address - kFirstFunction;
  if (offset % kFunctionStep != 0 || offset / kFunctionStep >= UINT32_MAX) return std::nullopt;
  return ptx::FunctionId(static_cast<uint32_t>(offset / kFunctionStep));
}

Program decode(const ptx::Module& module, ptx::FunctionId kernel, Environment& environment) {
  Program program;
  program.module = &module;
  program.kernel = kernel;
  FlatCode code = flatten(module, kernel, environment);
  SlotMap slots(code, assign_slots(module, code));
  lay_out_parameters(module, kernel, program);
  lay_out_shared(module, code, program);
  program.local_bytes =
      static_cast<uint32_t>(code.local_bytes) + (code.uses_stack ? kStackBytes : 0);
  program.ops.reserve(code.instructions.size() * 5 / 4 + 8);
  Emission(module, code, slots, environment, program).run();
  slots.finish(program);
  return program;
}

}  // namespace lw::program
