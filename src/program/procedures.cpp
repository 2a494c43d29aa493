#include "program/procedures.h"

#include <algorithm>

namespace lw::program {
namespace {

constexpr uint8_t kSlotBytes[] = {1, 4, 8};  // by SlotClass; a predicate is a byte in memory

std::vector<ProcedureCall::Copied> copied(const std::vector<Area>& outside,
                                          const std::vector<Area>& inside) {
  std::vector<ProcedureCall::Copied> all;
  for (size_t i = 0; i < inside.size(); ++i)
    all.push_back({static_cast<uint32_t>(outside[i].offset),
                   static_cast<uint32_t>(inside[i].offset),
                   static_cast<uint32_t>(inside[i].bytes)});
  return all;
}

class Saver {
 public:
  Saver(const FlatCode& code, const SlotMap& slots, uint32_t behind, ProcedureCall& call)
      : code_(code), slots_(slots), behind_(behind), call_(call) {}

  void frame(const Frame& frame) {
    if (frame.first_virtual.empty()) return;
    for (uint32_t reg = frame.first_virtual.front(); reg < frame.end_virtual; ++reg) save(reg);
  }

 private:
  void save(uint32_t reg) {
    if (!slots_.is_live(reg, behind_)) return;
    const uint8_t bytes = kSlotBytes[static_cast<size_t>(code_.registers[reg])];
    call_.saved.push_back({slots_.of(reg), bytes});
    call_.saved_bytes += bytes;
  }

  const FlatCode& code_;
  const SlotMap& slots_;
  uint32_t behind_;
  ProcedureCall& call_;
};

}  // namespace

ProcedureCall procedure_call(const FlatCode& code, const SlotMap& slots, uint32_t index) {
  const Invocation& invocation = code.invocations[index];
  const Procedure& procedure = code.procedures[invocation.procedure];
  ProcedureCall call;
  call.procedure = invocation.procedure;
  call.record_bytes = static_cast<uint32_t>(procedure.record_bytes);
  call.from_record = code.frames[invocation.frame].procedure.has_value();
  call.params = copied(invocation.params, procedure.params);
  call.returns = copied(invocation.returns, procedure.returns);
  if (!call.from_record) return call;
  Saver saver(code, slots, code.labels[invocation.behind_label], call);
  for (std::optional<uint32_t> frame = invocation.frame; frame; frame = code.frames[*frame].outer)
    saver.frame(code.frames[*frame]);
  return call;
}

namespace {

// The Ops of one pass, part by part.
class PassEmitter {
 public:
  PassEmitter(BindContext& context, SlotMap& slots, const CoreHandlers& core, const FlatCode& code,
              const Pass& pass)
      : context_(context), slots_(slots), core_(core), code_(code), pass_(pass) {}

  void emit() {
    const Slot stack = pass_.kind == Kind::keep_stack || pass_.kind == Kind::take_back_stack
                           ? slots_.stack_pointer()
                           : Slot{};
    switch (pass_.kind) {
      case Kind::keep_stack:
        return op(core_.put, {}, stack, SlotClass::word, 0);
      case Kind::take_back_stack:
        return op(core_.fetch, stack, {}, SlotClass::word, 0);
      case Kind::load:
        for (size_t i = 0; i < pass_.into.size(); ++i)
          op(core_.fetch, slots_.of(pass_.into[i]), {}, kind_of(pass_.into[i]), i);
        return;
      case Kind::store:
        for (size_t i = 0; i < sources(); ++i) op(core_.put, {}, source(i), source_kind(i), i);
        return;
      case Kind::move:
        for (size_t i = 0; i < pass_.into.size(); ++i)
          op(core_.move, slots_.of(pass_.into[i]), source(i), kind_of(pass_.into[i]), i);
    }
  }

 private:
  using Kind = Pass::Kind;

  SlotClass kind_of(uint32_t reg) const { return code_.registers[reg]; }
  size_t sources() const { return std::max(pass_.from.size(), pass_.immediates.size()); }
  SlotClass source_kind(size_t part) const {
    if (!pass_.from.empty()) return kind_of(pass_.from[part]);
    if (!pass_.into.empty()) return kind_of(pass_.into[part]);
    return pass_.bytes == 8 ? SlotClass::wide : SlotClass::word;
  }
  Slot source(size_t part) {
    if (!pass_.from.empty()) return slots_.of(pass_.from[part]);
    return slots_.constant(pass_.immediates[part], source_kind(part));
  }

  void op(const Handlers& handlers, Slot d, Slot a, SlotClass kind, size_t part) {
    const Slot base = context_.base_of(code_.frames[pass_.frame]);
    Op& op = context_.emit(handlers);
    op.d = d;
    op.a = a;
    op.b = base;
    op.immediate = pass_.area + part * pass_.bytes;
    op.detail = static_cast<uint16_t>(kind);
    op.extra = static_cast<uint16_t>(pass_.bytes);
  }

  BindContext& context_;
  SlotMap& slots_;
  const CoreHandlers& core_;
  const FlatCode& code_;
  const Pass& pass_;
};

}  // namespace

void emit_pass(BindContext& context, SlotMap& slots, const CoreHandlers& core, const FlatCode& code,
               const Pass& pass) {
  PassEmitter(context, slots, core, code, pass).emit();
}

}  // namespace lw::program
