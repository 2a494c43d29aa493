#include "machine/come_back.h"

#include <vector>

#include "machine/core_ops.h"

namespace lw::machine {
namespace {

using program::Op;
using program::Program;

// Calls `visit` for every Op that may follow `op`.
template <class Visit>
void for_each_next(const Program& program, const Op* op, Visit visit) {
  const program::CoreHandlers& core = core_handlers();
  if (op->full == core.exit.full || op->full == core.refuse.full) return;
  if (op->full == core.select.full) {
    for (uint32_t index = 0; index < op->extra; ++index)
      visit(program.ops.data() + program.jump_table[op->immediate + index]);
    return;
  }
  if (op->full == core.invoke.full)
    return visit(program.ops.data() + program.procedure_calls[op->immediate].start);
  if (op->full == core.leave.full) {
    for (const program::ProcedureCall& call : program.procedure_calls)
      if (call.procedure == op->immediate) visit(program.ops.data() + call.behind);
    return;
  }
  const bool jumps = op->full == core.jump.full;
  if (jumps || op->full == core.branch.full || op->full == core.guard.full) visit(op + op->jump);
  if (!jumps) visit(op + 1);
}

bool is_reached(const Program& program, const Op* from, const Op* to) {
  std::vector<bool> seen(program.ops.size() + 1, false);
  std::vector<const Op*> left{from};
  const auto add = [&](const Op* op) {
    const auto index = static_cast<size_t>(op - program.ops.data());
    if (index < program.ops.size() && !seen[index]) {
      seen[index] = true;
      left.push_back(op);
    }
  };
  while (!left.empty()) {
    const Op* op = left.back();
    left.pop_back();
    if (op == to) return true;
    for_each_next(program, op, add);
  }
  return false;
}

}  // namespace

bool only_exits(const Op* op) {
  const program::CoreHandlers& core = core_handlers();
  for (int steps = 0; steps < 8; ++steps) {
    if (op->full == core.exit.full) return true;
    if (op->full == core.join.full)
      ++op;
    else if (op->full == core.jump.full && op->jump > 0)
      op += op->jump;
    else
      return false;
  }
  return false;
}

bool ComeBack::may_come(const Program& program, const Op* from, const Op* to) {
  if (only_exits(from)) return true;
  const auto [found, is_new] = known_.try_emplace({from, to}, false);
  if (is_new) found->second = is_reached(program, from, to);
  return found->second;
}

}  // namespace lw::machine
