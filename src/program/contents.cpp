#include "program/contents.h"

#include <algorithm>
#include <bit>
#include <map>

#include "program/nodes.h"
#include "program/operands.h"

namespace lw::program {

HeldContents::HeldContents(int objects) : contents(64), pointers(64), objects(objects) {
  Sources all = kModuleData;
  for (int i = 0; i < objects; ++i) all |= Sources{1} << i;
  for (int i = 0; i < objects; ++i) contents[i] = Sources{1} << i;
  contents[std::countr_zero(kModuleData)] = kModuleData;
  for (int i = 0; i < objects; ++i) pointers[i] = all;
  pointers[std::countr_zero(kModuleData)] = all;
}

namespace {

using Kind = FlatInstruction::Kind;
using ptx::Effect;
using ptx::Space;

// Of a value: whose contents it depends on, what it may point to, and pieces of which pointers it
// may be.
struct Value {
  Sources contents = 0;
  Sources pointers = 0;
  Sources pieces = 0;
  Value operator|(const Value& other) const {
    return {contents | other.contents, pointers | other.pointers, pieces | other.pieces};
  }
  // Of an address.
  Sources leads_to() const { return pointers != 0 ? pointers : pieces; }
  friend bool operator==(const Value&, const Value&) = default;
};

class Slice {
 public:
  Slice(const ptx::Module& module, const FlatCode& code, const PointedTo& pointed,
        HeldContents& held)
      : module_(module),
        code_(code),
        nodes_(describe_nodes(module, code)),
        values_(code.registers.size() + 1),
        plainly_(pointed.plainly | kModuleData),
        held_(held) {
    number_shared();
    const std::vector<Sources>& parameters = pointed.parameters;
    const ptx::Function& kernel = module.functions[code.frames.front().function.value];
    for (size_t i = 0; i < kernel.params.size(); ++i)
      parameters_[kernel.params[i].value] = i < parameters.size() ? parameters[i] : kModuleData;
  }

  // Nothing shrinks, so this ends.
  ContentsSlice run() {
    do {
      changed_ = false;
      for (size_t i = 0; i < nodes_.size(); ++i) pass(i);
    } while (changed_);
    ContentsSlice result;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (const Sources by = decides(i); by != 0)
        result.decided.push_back({by, base::OpId(code_.instructions[i].place)});
      if (is_lost(i)) result.lost.push_back(base::OpId(code_.instructions[i].place));
    }
    return result;
  }

 private:
  void number_shared() {
    int bit = std::countr_zero(kOnChip) - 1;
    for (uint32_t id = 0; id < module_.variables.size() && bit >= held_.objects; ++id)
      if (module_.variables[id].space == Space::shared && module_.variables[id].size_bytes() > 0)
        shared_[id] = Sources{1} << bit--;
    for (const auto& [id, object] : shared_) on_chip_ |= object;
  }

  Value all_of(const std::vector<uint32_t>& registers) const {
    Value value;
    for (uint32_t reg : registers) value = value | values_[reg];
    return value;
  }
  Value symbols_of(const Node& node) const {
    Value value;
    for (ptx::VariableId variable : node.symbols) value.pointers |= object_of(variable);
    return value;
  }
  Sources object_of(ptx::VariableId variable) const {
    if (const auto at = parameters_.find(variable.value); at != parameters_.end())
      return at->second;
    switch (module_.variables[variable.value].space) {
      case Space::global:
        return kModuleData;
      case Space::constant:
        return 0;
      case Space::shared:
        if (const auto at = shared_.find(variable.value); at != shared_.end()) return at->second;
        return kOnChip;
      default:
        return kOnChip;
    }
  }

  const ptx::Opcode* opcode_of(size_t index) const {
    const FlatInstruction& flat = code_.instructions[index];
    return flat.source == nullptr ? nullptr : &module_.opcode_of(*flat.source);
  }
  bool has(size_t index, ptx::Mod mod) const {
    const ptx::Opcode* opcode = opcode_of(index);
    return opcode != nullptr && opcode->has(mod);
  }
  // Of a parameter of the kernel itself: it holds what the launch gave. Those of functions are
  // local.
  bool is_parameter(size_t index) const {
    return has(index, ptx::Mod::param) || has(index, ptx::Mod::param_entry) ||
           has(index, ptx::Mod::param_func);
  }
  bool reads_parameter(size_t index) const {
    return nodes_[index].effect == Effect::load && is_parameter(index);
  }
  bool is_on_chip(size_t index) const {
    const ptx::Opcode* opcode = opcode_of(index);
    if (opcode == nullptr) return false;
    const std::string_view name = mnemonic(*opcode);
    return has(index, ptx::Mod::shared) || has(index, ptx::Mod::shared_cta) ||
           has(index, ptx::Mod::local) || name == "tcgen05" || name == "wgmma" ||
           name == "mbarrier" || name == "ldmatrix" || name == "stmatrix";
  }

  // The objects that it may touch.
  Sources touched(size_t index) const {
    const Node& node = nodes_[index];
    if (code_.instructions[index].kind == Kind::pass) return kOnChip;
    const Sources objects = (all_of(node.address) | symbols_of(node)).leads_to();
    if (!is_on_chip(index)) return objects;
    const Sources there = (objects & on_chip_) != 0 ? objects & on_chip_ : on_chip_;
    const bool only_there = node.effect == Effect::load || node.effect == Effect::store ||
                            node.effect == Effect::atomic;
    return (only_there ? 0 : objects) | there | tensor_memory(index);
  }
  Sources tensor_memory(size_t index) const {
    const std::string_view name = mnemonic(*opcode_of(index));
    return name == "tcgen05" || name == "wgmma" ? kOnChip : 0;
  }

  template <class Visit>
  static void each_object(Sources objects, Visit visit) {
    for (; objects != 0; objects &= objects - 1) visit(std::countr_zero(objects));
  }
  Value held_by(Sources objects) const {
    Value value;
    each_object(objects, [&](int i) {
      value = value | Value{held_.contents[i], held_.pointers[i], 0};
    });
    return value;
  }
  // What a load gives of that. An address on the chip fits into any register.
  Value loaded(size_t index, Value value) const {
    const ptx::Opcode* opcode = opcode_of(index);
    const int bits = opcode == nullptr ? 0 : ptx::bits_of(opcode->type(0));
    if (bits == 0 || bits >= 64) return value;
    value.pieces |= value.pointers & ~on_chip_;
    value.pointers &= on_chip_;
    return value;
  }
  // Registers that are packed into a wider one may become a pointer.
  Value packed(size_t index, Value value) const {
    const ptx::Opcode* opcode = opcode_of(index);
    if (opcode != nullptr && mnemonic(*opcode) == "mov" && nodes_[index].reads.size() > 1)
      value.pointers |= value.pieces;
    return value;
  }
  void hold(Sources objects, const Value& value) {
    const Sources pointers = value.pointers | value.pieces;
    each_object(objects, [&](int i) {
      changed_ |=
          (value.contents & ~held_.contents[i]) != 0 || (pointers & ~held_.pointers[i]) != 0;
      held_.contents[i] |= value.contents;
      held_.pointers[i] |= pointers;
    });
  }
  void set(const Node& node, const Value& value) {
    for (uint32_t reg : node.writes) {
      const Value joined = values_[reg] | value;
      changed_ |= joined != values_[reg];
      values_[reg] = joined;
    }
  }

  // A load may have a second result, which stands among what it reads.
  void set_all(const Node& node, const Value& value) {
    set(node, value);
    Node more;
    more.writes = node.reads;
    set(more, value);
  }

  void pass(size_t index) {
    const Node& node = nodes_[index];
    Value in = all_of(node.reads);
    if (node.guard) in.contents |= values_[*node.guard].contents;
    const Value address = all_of(node.address);
    const Sources objects = touched(index);
    switch (node.effect) {
      case Effect::none:
        return set(node, packed(index, in | symbols_of(node) | address));
      case Effect::load:
        if (reads_parameter(index)) {
          const Value given{address.contents, (address | symbols_of(node)).pointers, 0};
          return set(node, given | held_by(kOnChip & objects));
        }
        return set_all(node, Value{address.contents, 0, 0} | in | loaded(index, held_by(objects)));
      case Effect::store:
        return hold(objects, in);
      case Effect::barrier:  // the state of an object of synchronisation is no data
        return set(node, in | address);
      default:  // whatever it does, it may carry all to all
        const Value carried = held_by(objects) | in;
        hold(objects, carried);
        return set(node, carried | address);
    }
  }

  // Whose contents decide whether or where this happens, or how much of it.
  Sources decides(size_t index) const {
    const FlatInstruction& flat = code_.instructions[index];
    const Node& node = nodes_[index];
    const Sources guard = node.guard ? values_[*node.guard].contents : 0;
    if (flat.kind == Kind::pass) return 0;
    if (flat.kind != Kind::plain) return guard | all_of(node.reads).contents;
    if (node.effect == Effect::none) return membership(index);
    const Sources place = guard | all_of(node.address).contents | map_of(index);
    const bool carries_data = node.effect == Effect::load || node.effect == Effect::store ||
                              node.effect == Effect::atomic;
    return carries_data ? place : place | all_of(node.reads).contents;
  }
  // The tensor map of a copy, if it lies where a plain pointer leads: its bytes say what is copied.
  Sources map_of(size_t index) const {
    if (!has(index, ptx::Mod::tensor)) return 0;
    const Node& node = nodes_[index];
    const Sources objects = (all_of(node.address) | symbols_of(node)).leads_to();
    return held_by(objects & plainly_).contents & ~on_chip_;
  }
  // The mask of a warp collective, its last operand.
  Sources membership(size_t index) const {
    const ptx::Opcode* opcode = opcode_of(index);
    if (opcode == nullptr || !opcode->has(ptx::Mod::sync)) return 0;
    const std::string_view name = mnemonic(*opcode);
    if (name != "shfl" && name != "vote" && name != "match" && name != "redux" && name != "elect")
      return 0;
    const FlatInstruction& flat = code_.instructions[index];
    const ptx::Function& function = module_.functions[code_.frames[flat.frame].function.value];
    const ptx::Operand& last = function.operands_of(*flat.source).back();
    Sources by = 0;
    for_each_register(function, last, [&](const ptx::Operand& operand) {
      by |= values_[code_.virtual_of(flat.frame, operand.reg())].contents;
    });
    return by;
  }

  bool is_lost(size_t index) const {
    const Kind kind = code_.instructions[index].kind;
    if (kind == Kind::builtin || kind == Kind::refused) return true;
    const Node& node = nodes_[index];
    if (node.effect == Effect::none || node.address.empty() || has(index, ptx::Mod::_const))
      return false;
    return touched(index) == 0 && !reads_parameter(index);
  }

  const ptx::Module& module_;
  const FlatCode& code_;
  std::vector<Node> nodes_;
  std::vector<Value> values_;  // by virtual register
  std::map<uint32_t, Sources> parameters_;
  std::map<uint32_t, Sources> shared_;  // variables that are objects of their own
  Sources on_chip_ = kOnChip;           // and those
  Sources plainly_;
  HeldContents& held_;
  bool changed_ = false;
};

}  // namespace

ContentsSlice slice_contents(const ptx::Module& module, const FlatCode& code,
                             const PointedTo& pointed, HeldContents& held) {
  return Slice(module, code, pointed, held).run();
}

}  // namespace lw::program
