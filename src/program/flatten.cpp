#include <algorithm>
#include <map>
#include <set>

#include "program/call_site.h"
#include "program/flat.h"
#include "program/layout.h"
#include "program/passing.h"

namespace lw::program {
namespace {

using Kind = FlatInstruction::Kind;

constexpr uint32_t kUnset = UINT32_MAX;

bool is_of_the_stack(ptx::FormId form) {
  return form == ptx::FormId::alloca || form == ptx::FormId::stacksave ||
         form == ptx::FormId::stackrestore;
}

bool has_alloca(const ptx::Module& module, const ptx::Function& function) {
  return std::ranges::any_of(function.instructions, [&](const ptx::Instruction& instruction) {
    return module.opcode_of(instruction).form == ptx::FormId::alloca;
  });
}

using Functions = std::set<uint32_t>;

class Flattener {
 public:
  Flattener(const ptx::Module& module, PlaceSource& places, const Functions& procedures)
      : module_(module),
        places_(places),
        procedures_(procedures),
        callees_(module),
        passing_(module, code_) {}

  // Nothing: there are functions that call themselves and are no procedures yet.
  std::optional<FlatCode> run(ptx::FunctionId kernel) {
    const uint32_t frame = open_frame(kernel, {});
    for (uint32_t id : procedures_) open_procedure(ptx::FunctionId(id));
    const uint32_t start = new_label();
    if (!procedures_.empty()) jump_to(frame, start);
    for (uint32_t i = 0; i < code_.procedures.size(); ++i) procedure(i);
    place_label(start);
    body(frame);
    if (!recursive_.empty()) return std::nullopt;
    for (const Invocation& one : code_.invocations)
      code_.instructions[leaves_[one.procedure]].targets.push_back(one.behind_label);
    code_.local_bytes = align_up(code_.local_bytes, 16);
    return std::move(code_);
  }
  const Functions& recursive() const { return recursive_; }

 private:
  const ptx::Function& function_of(uint32_t frame) const {
    return module_.functions[code_.frames[frame].function.value];
  }

  uint32_t new_label() {
    code_.labels.push_back(kUnset);
    return static_cast<uint32_t>(code_.labels.size() - 1);
  }
  void place_label(uint32_t label) {
    code_.labels[label] = static_cast<uint32_t>(code_.instructions.size());
  }

  uint32_t open_frame(ptx::FunctionId id, std::optional<uint32_t> outer) {
    const ptx::Function& function = module_.functions[id.value];
    Frame frame;
    frame.outer = outer;
    if (outer) frame.procedure = code_.frames[*outer].procedure;
    frame.function = id;
    frame.first_place = places_.first_place(id);
    frame.end_label = new_label();
    for (const ptx::Register& reg : function.registers) {
      frame.first_virtual.push_back(static_cast<uint32_t>(code_.registers.size()));
      code_.registers.insert(code_.registers.end(), slots_of(reg), slot_class(reg.type));
    }
    frame.end_virtual = static_cast<uint32_t>(code_.registers.size());
    code_.frames.push_back(std::move(frame));
    return static_cast<uint32_t>(code_.frames.size() - 1);
  }

  void open_procedure(ptx::FunctionId id) {
    const auto index = static_cast<uint32_t>(code_.procedures.size());
    Procedure& procedure = code_.procedures.emplace_back();
    procedure.frame = open_frame(id, {});
    procedure.start_label = new_label();
    code_.frames[procedure.frame].procedure = index;
    procedure_of_[id.value] = index;
    code_.uses_stack = true;
    passing_.bind_procedure(procedure, starts_[index], ends_[index]);
  }

  void procedure(uint32_t index) {
    const uint32_t frame = code_.procedures[index].frame;
    const uint32_t place = code_.frames[frame].first_place;
    place_label(code_.procedures[index].start_label);
    pass_all(frame, place, starts_[index]);
    body(frame);
    pass_all(frame, last_place(frame), ends_[index]);
    leaves_[index] = code_.instructions.size();
    add(frame, Kind::leave, nullptr, last_place(frame)).index = index;
  }

  void pass_all(uint32_t frame, uint32_t place, std::vector<Pass>& passes) {
    for (Pass& pass : passes) {
      add(frame, Kind::pass, nullptr, place).index = static_cast<uint32_t>(code_.passes.size());
      code_.passes.push_back(std::move(pass));
    }
  }

  void jump_to(uint32_t frame, uint32_t label) {
    FlatInstruction& jump = add(frame, Kind::jump, nullptr, code_.frames[frame].first_place);
    jump.label = label;
    jump.unconditional = true;
  }

  void body(uint32_t frame) {
    const ptx::Function& function = function_of(frame);
    active_.push_back(code_.frames[frame].function);
    std::vector<uint32_t> labels(function.labels.size());
    std::vector<std::vector<uint32_t>> before(function.instructions.size() + 1);
    for (size_t i = 0; i < labels.size(); ++i) {
      labels[i] = new_label();
      before[function.labels[i].target].push_back(labels[i]);
    }
    for (uint32_t i = 0; i <= function.instructions.size(); ++i) {
      for (uint32_t label : before[i]) place_label(label);
      if (i < function.instructions.size()) instruction(frame, i, labels);
    }
    place_label(code_.frames[frame].end_label);
    if (function.entry) add(frame, Kind::exit, nullptr, last_place(frame));
    active_.pop_back();
  }

  uint32_t last_place(uint32_t frame) const {
    size_t count = function_of(frame).instructions.size();
    return code_.frames[frame].first_place + static_cast<uint32_t>(count ? count - 1 : 0);
  }

  FlatInstruction& add(uint32_t frame, Kind kind, const ptx::Instruction* source, uint32_t place) {
    FlatInstruction flat;
    flat.kind = kind;
    flat.frame = frame;
    flat.place = place;
    flat.source = source;
    return code_.instructions.emplace_back(std::move(flat));
  }

  void instruction(uint32_t frame, uint32_t index, const std::vector<uint32_t>& labels) {
    const ptx::Function& function = function_of(frame);
    const ptx::Instruction& source = function.instructions[index];
    uint32_t place = code_.frames[frame].first_place + index;
    allocate_locals(frame, source);
    code_.uses_stack |= is_of_the_stack(module_.opcode_of(source).form);
    switch (module_.opcode_of(source).form) {
      case ptx::FormId::bra:
        add(frame, Kind::jump, &source, place).label =
            labels[function.operands_of(source)[0].label().value];
        return;
      case ptx::FormId::brx_idx:
        return select(frame, source, place, labels);
      case ptx::FormId::call:
        return call(frame, source, place);
      case ptx::FormId::ret:
        if (!function.entry) {
          add(frame, Kind::jump, &source, place).label = code_.frames[frame].end_label;
          return;
        }
        [[fallthrough]];
      case ptx::FormId::exit:
        add(frame, Kind::exit, &source, place);
        return;
      default:
        add(frame, Kind::plain, &source, place);
    }
  }

  void select(uint32_t frame, const ptx::Instruction& source, uint32_t place,
              const std::vector<uint32_t>& labels) {
    const ptx::Function& function = function_of(frame);
    const ptx::Operand& list = function.operands_of(source)[1];
    std::vector<uint32_t> targets;
    for (uint32_t id : function.targets[list.id].ids) targets.push_back(labels[id]);
    add(frame, Kind::select, &source, place).targets = std::move(targets);
  }

  void refuse(uint32_t frame, const ptx::Instruction& source, uint32_t place, std::string why) {
    add(frame, Kind::refused, &source, place).text = std::move(why);
  }

  void call(uint32_t frame, const ptx::Instruction& source, uint32_t place) {
    CallSite site = call_site(function_of(frame), source);
    if (site.callee->kind != ptx::OperandKind::function)
      return call_through_pointer(frame, source, place, site);
    ptx::FunctionId id = callees_.resolve_alias(site.callee->function());
    if (!module_.functions[id.value].defined) {
      add(frame, Kind::builtin, &source, place).text = module_.functions[id.value].name;
      return;
    }
    const uint32_t behind = new_label();
    go_around(frame, source, place, behind);
    enter(frame, source, place, site, id);
    place_label(behind);
  }

  void enter(uint32_t frame, const ptx::Instruction& source, uint32_t place, const CallSite& site,
             ptx::FunctionId id) {
    const bool is_procedure = procedures_.contains(id.value);
    if (!is_procedure && std::ranges::find(active_, id) != active_.end()) {
      recursive_.insert(id.value);
      return;
    }
    if (code_.instructions.size() > kMaxFlat)
      return refuse(frame, source, place, "program too large with all calls inlined");
    if (is_procedure) return invoke(frame, source, place, site, procedure_of_[id.value]);
    inline_body(frame, source, place, site, id);
  }

  void invoke(uint32_t frame, const ptx::Instruction& source, uint32_t place, const CallSite& site,
              uint32_t procedure) {
    const auto index = static_cast<uint32_t>(code_.invocations.size());
    Invocation invocation{frame, procedure, new_label(), {}, {}};
    std::vector<Pass> before, behind;
    if (!passing_.bind_invocation(invocation, site.params, site.returns, before, behind))
      return refuse(frame, source, place, std::string(kStrangeArgument));
    pass_all(frame, place, before);
    FlatInstruction& jump = add(frame, Kind::invoke, nullptr, place);
    jump.index = index;
    jump.label = code_.procedures[procedure].start_label;
    place_label(invocation.behind_label);
    code_.invocations.push_back(std::move(invocation));
    pass_all(frame, place, behind);
  }

  void call_through_pointer(uint32_t frame, const ptx::Instruction& source, uint32_t place,
                            const CallSite& site) {
    if (pointer_depth_ == kMaxPointerDepth || code_.instructions.size() > kMaxFlat ||
        module_.functions.size() >= UINT16_MAX)
      return refuse(frame, source, place, "calls through pointers nested too deeply to inline");
    ++pointer_depth_;
    const uint32_t behind = new_label(), other = new_label();
    const auto candidates = callees_.through_pointer(function_of(frame), site);
    std::vector<uint32_t> targets(module_.functions.size() + 1, other);
    for (ptx::FunctionId id : candidates) targets[id.value] = new_label();
    go_around(frame, source, place, behind);
    add(frame, Kind::choose, &source, place).targets = targets;
    for (ptx::FunctionId id : candidates) {
      place_label(targets[id.value]);
      enter(frame, source, place, site, id);
      FlatInstruction& leave = add(frame, Kind::jump, &source, place);
      leave.label = behind;
      leave.unconditional = true;
    }
    place_label(other);
    refuse(frame, source, place, "call through a pointer to something else than expected");
    place_label(behind);
    --pointer_depth_;
  }

  // Lanes whose guard is false go to `label`.
  void go_around(uint32_t frame, const ptx::Instruction& source, uint32_t place, uint32_t label) {
    if (!source.guarded) return;
    FlatInstruction& around = add(frame, Kind::jump, &source, place);
    around.label = label;
    around.inverted = true;
  }

  void inline_body(uint32_t frame, const ptx::Instruction& source, uint32_t place,
                   const CallSite& site, ptx::FunctionId id) {
    const uint32_t inner = open_frame(id, frame);
    std::vector<Pass> before, behind;
    if (!passing_.bind_inlined(frame, inner, site.params, site.returns, before, behind))
      return refuse(frame, source, place, std::string(kStrangeArgument));
    if (has_alloca(module_, module_.functions[id.value])) keep_stack(inner, before, behind);
    pass_all(frame, place, before);
    body(inner);
    pass_all(frame, place, behind);
  }

  // What a function takes from the stack is given back when it returns.
  void keep_stack(uint32_t frame, std::vector<Pass>& before, std::vector<Pass>& behind) {
    Pass keep;
    keep.kind = Pass::Kind::keep_stack;
    keep.frame = frame;
    keep.area = passing_.take(frame, 4, 4);
    keep.bytes = 4;
    before.push_back(keep);
    keep.kind = Pass::Kind::take_back_stack;
    behind.push_back(keep);
  }

  // Gives room to the `.local` and `.param` variables that an instruction names.
  void allocate_locals(uint32_t frame, const ptx::Instruction& source) {
    const ptx::Function& function = function_of(frame);
    for (const ptx::Operand& operand : function.operands_of(source)) allocate(frame, operand);
  }
  void allocate(uint32_t frame, const ptx::Operand& operand) {
    for_each_symbol(function_of(frame), operand, [&](const ptx::Operand& symbol) {
      ptx::Space space = module_.variables[symbol.id].space;
      if (space == ptx::Space::local ||
          (space == ptx::Space::param && !is_kernel_parameter(frame, symbol.variable())))
        passing_.local_area(frame, symbol.variable());
    });
  }
  bool is_kernel_parameter(uint32_t frame, ptx::VariableId id) const {
    const ptx::Function& function = function_of(frame);
    return function.entry && std::ranges::find(function.params, id) != function.params.end();
  }

  static constexpr size_t kMaxFlat = 8u << 20;
  static constexpr int kMaxPointerDepth = 3;
  static constexpr std::string_view kStrangeArgument =
      "call with an argument that is no variable, register or constant";

  const ptx::Module& module_;
  PlaceSource& places_;
  const Functions& procedures_;
  Callees callees_;
  FlatCode code_;
  Passing passing_;
  Functions recursive_;                                  // call themselves and are no procedures
  std::map<uint32_t, uint32_t> procedure_of_;            // FunctionId -> index
  std::map<uint32_t, std::vector<Pass>> starts_, ends_;  // by index
  std::map<uint32_t, size_t> leaves_;                    // by index: its instruction
  std::vector<ptx::FunctionId> active_;
  int pointer_depth_ = 0;
};

}  // namespace

FlatCode flatten(const ptx::Module& module, ptx::FunctionId kernel, PlaceSource& places) {
  Functions procedures;
  while (true) {
    Flattener flattener(module, places, procedures);
    if (std::optional<FlatCode> code = flattener.run(kernel)) return std::move(*code);
    procedures.insert(flattener.recursive().begin(), flattener.recursive().end());
  }
}

}  // namespace lw::program
