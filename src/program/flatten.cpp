#include <algorithm>

#include "program/flat.h"

namespace lw::program {
namespace {

using Kind = FlatInstruction::Kind;

constexpr uint32_t kUnset = UINT32_MAX;

uint64_t round_up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

// The parts of a `call`.
struct CallSite {
  const ptx::Operand* returns = nullptr;
  const ptx::Operand* callee = nullptr;
  const ptx::Operand* params = nullptr;
  const ptx::Operand* list = nullptr;  // .calltargets or .callprototype
};

// The functions whose address is taken somewhere.
std::vector<char> find_taken(const ptx::Module& module) {
  std::vector<char> taken(module.functions.size(), 0);
  for (const ptx::Variable& variable : module.variables)
    for (const ptx::Initial& initial : variable.initial)
      if (initial.kind == ptx::Initial::Kind::function) taken[initial.id] = 1;
  for (const ptx::Function& function : module.functions)
    for (const ptx::Instruction& instruction : function.instructions) {
      if (module.opcode_of(instruction).form == ptx::FormId::call) continue;
      for (const ptx::Operand& operand : function.operands_of(instruction))
        if (operand.kind == ptx::OperandKind::function) taken[operand.id] = 1;
    }
  return taken;
}

CallSite call_site(const ptx::Function& function, const ptx::Instruction& instruction) {
  CallSite site;
  for (const ptx::Operand& operand : function.operands_of(instruction)) {
    if (operand.kind == ptx::OperandKind::list)
      site.list = &operand;
    else if (operand.kind == ptx::OperandKind::arguments)
      (site.callee ? site.params : site.returns) = &operand;
    else if (!site.callee)
      site.callee = &operand;
  }
  return site;
}

class Flattener {
 public:
  Flattener(const ptx::Module& module, PlaceSource& places) : module_(module), places_(places) {}

  FlatCode run(ptx::FunctionId kernel) {
    uint32_t frame = open_frame(kernel);
    body(frame);
    code_.local_bytes = round_up(code_.local_bytes, 16);
    return std::move(code_);
  }

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

  uint32_t open_frame(ptx::FunctionId id) {
    const ptx::Function& function = module_.functions[id.value];
    Frame frame;
    frame.function = id;
    frame.first_place = places_.first_place(id);
    frame.end_label = new_label();
    for (const ptx::Register& reg : function.registers) {
      frame.first_virtual.push_back(static_cast<uint32_t>(code_.registers.size()));
      code_.registers.insert(code_.registers.end(), slots_of(reg), slot_class(reg.type));
    }
    code_.frames.push_back(std::move(frame));
    return static_cast<uint32_t>(code_.frames.size() - 1);
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
    ptx::FunctionId id = resolve_alias(site.callee->function());
    if (!module_.functions[id.value].defined) {
      add(frame, Kind::builtin, &source, place).text = module_.functions[id.value].name;
      return;
    }
    if (std::ranges::find(active_, id) != active_.end())
      return refuse(frame, source, place, "recursive call");
    if (code_.instructions.size() > kMaxFlat)
      return refuse(frame, source, place, "program too large with all calls inlined");
    inline_call(frame, source, place, site, id);
  }

  void call_through_pointer(uint32_t frame, const ptx::Instruction& source, uint32_t place,
                            const CallSite& site) {
    if (pointer_depth_ == kMaxPointerDepth || code_.instructions.size() > kMaxFlat ||
        module_.functions.size() >= UINT16_MAX)
      return refuse(frame, source, place, "calls through pointers nested too deeply to inline");
    ++pointer_depth_;
    const uint32_t behind = new_label(), other = new_label();
    std::vector<ptx::FunctionId> candidates = find_candidates(frame, site);
    std::vector<uint32_t> targets(module_.functions.size() + 1, other);
    for (ptx::FunctionId id : candidates) targets[id.value] = new_label();
    go_around(frame, source, place, behind);
    add(frame, Kind::choose, &source, place).targets = targets;
    for (ptx::FunctionId id : candidates) {
      place_label(targets[id.value]);
      inline_body(frame, source, place, site, id);
      FlatInstruction& leave = add(frame, Kind::jump, &source, place);
      leave.label = behind;
      leave.unconditional = true;
    }
    place_label(other);
    refuse(frame, source, place, "call through a pointer to something else than expected");
    place_label(behind);
    --pointer_depth_;
  }

  std::vector<ptx::FunctionId> find_candidates(uint32_t frame, const CallSite& site) {
    if (taken_.empty()) taken_ = find_taken(module_);
    const ptx::Function& caller = function_of(frame);
    std::vector<uint32_t> named;
    if (site.list != nullptr) named = caller.targets[site.list->id].ids;
    std::vector<ptx::FunctionId> candidates;
    for (uint32_t id = 0; id < module_.functions.size(); ++id) {
      const bool may_be_meant = named.empty() ? taken_[id] : std::ranges::count(named, id) != 0;
      if (may_be_meant && fits(caller, site, ptx::FunctionId(id))) candidates.emplace_back(id);
    }
    return candidates;
  }

  bool fits(const ptx::Function& caller, const CallSite& site, ptx::FunctionId id) const {
    const ptx::Function& callee = module_.functions[id.value];
    return callee.defined && !callee.entry && std::ranges::find(active_, id) == active_.end() &&
           same_sizes(caller, site.returns, callee.returns) &&
           same_sizes(caller, site.params, callee.params);
  }
  bool same_sizes(const ptx::Function& caller, const ptx::Operand* actual,
                  const std::vector<ptx::VariableId>& formal) const {
    if ((actual ? actual->count : 0) != formal.size()) return false;
    for (size_t i = 0; i < formal.size(); ++i) {
      const ptx::Operand& argument = caller.elements_of(*actual)[i];
      if (argument.kind != ptx::OperandKind::symbol) return false;
      if (module_.variables[argument.id].size_bytes() !=
          module_.variables[formal[i].value].size_bytes())
        return false;
    }
    return true;
  }

  // Lanes whose guard is false go to `label`.
  void go_around(uint32_t frame, const ptx::Instruction& source, uint32_t place, uint32_t label) {
    if (!source.guarded) return;
    FlatInstruction& around = add(frame, Kind::jump, &source, place);
    around.label = label;
    around.inverted = true;
  }

  ptx::FunctionId resolve_alias(ptx::FunctionId id) const {
    for (const ptx::Module::Alias& alias : module_.aliases)
      if (alias.name == id) return alias.target;
    return id;
  }

  void inline_call(uint32_t frame, const ptx::Instruction& source, uint32_t place,
                   const CallSite& site, ptx::FunctionId id) {
    uint32_t behind = new_label();
    go_around(frame, source, place, behind);
    inline_body(frame, source, place, site, id);
    place_label(behind);
  }

  void inline_body(uint32_t frame, const ptx::Instruction& source, uint32_t place,
                   const CallSite& site, ptx::FunctionId id) {
    const ptx::Function& caller = function_of(frame);
    const ptx::Function& callee = module_.functions[id.value];
    uint32_t inner = open_frame(id);
    bool bound = bind_areas(frame, inner, caller, site.returns, callee.returns) &&
                 bind_areas(frame, inner, caller, site.params, callee.params);
    if (!bound) return refuse(frame, source, place, "call with arguments in registers");
    body(inner);
  }

  // The formal parameters of `inner` are the areas of the actual ones of `frame`.
  bool bind_areas(uint32_t frame, uint32_t inner, const ptx::Function& caller,
                  const ptx::Operand* actual, const std::vector<ptx::VariableId>& formal) {
    size_t count = actual ? actual->count : 0;
    if (count < formal.size()) return false;
    for (size_t i = 0; i < formal.size(); ++i) {
      const ptx::Operand& argument = caller.elements_of(*actual)[i];
      if (argument.kind != ptx::OperandKind::symbol) return false;
      uint64_t area = local_area(frame, argument.variable());
      code_.frames[inner].local[formal[i].value] = area;
    }
    return true;
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
        local_area(frame, symbol.variable());
    });
  }
  bool is_kernel_parameter(uint32_t frame, ptx::VariableId id) const {
    const ptx::Function& function = function_of(frame);
    return function.entry && std::ranges::find(function.params, id) != function.params.end();
  }

  uint64_t local_area(uint32_t frame, ptx::VariableId id) {
    auto [found, is_new] = code_.frames[frame].local.try_emplace(id.value, 0);
    if (is_new) {
      const ptx::Variable& variable = module_.variables[id.value];
      code_.local_bytes = round_up(code_.local_bytes, std::max(1u, variable.align_bytes()));
      found->second = code_.local_bytes;
      code_.local_bytes += variable.size_bytes();
    }
    return found->second;
  }

  static constexpr size_t kMaxFlat = 8u << 20;
  static constexpr int kMaxPointerDepth = 3;

  const ptx::Module& module_;
  PlaceSource& places_;
  FlatCode code_;
  std::vector<ptx::FunctionId> active_;
  std::vector<char> taken_;  // by FunctionId: its address is; filled when first asked
  int pointer_depth_ = 0;
};

}  // namespace

FlatCode flatten(const ptx::Module& module, ptx::FunctionId kernel, PlaceSource& places) {
  return Flattener(module, places).run(kernel);
}

}  // namespace lw::program
