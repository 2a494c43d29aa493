// setmaxnreg (PTX: Miscellaneous Instructions, setmaxnreg).
//
// A CTA starts with the registers of its launch; `.dec` gives some of a warp's back to the pool of
// its CTA, `.inc` takes some from there and waits until there are enough. Both are of a whole
// warpgroup, but each warp's share can be counted by itself. The contents of new registers are
// undefined; we keep every PTX register, so a program that reads one is not caught here. No memory
// is ordered (rule G-1).

#include <fmt/format.h>

#include "machine/cta.h"
#include "machine/dispatch.h"
#include "machine/launch.h"
#include "machine/machine.h"
#include "machine/semantics/bind.h"

namespace lw::machine {
namespace {

// Op: immediate the count.

uint32_t present_registers(const Warp& warp) {
  return warp.sync.registers != 0 ? warp.sync.registers : warp.cta->launch->registers;
}

const Op* misuse(const Op& op, Warp& warp, std::string_view why) {
  warp.fail(op, FaultKind::register_misuse,
            fmt::format("{}: {} registers are asked for, the warp has {}", why, op.immediate,
                        present_registers(warp)));
  return nullptr;
}

const Op* run_decrease(const Op& op, Warp& warp) {
  if (!warp.require_aligned(op)) return nullptr;
  const uint32_t present = present_registers(warp);
  const auto count = static_cast<uint32_t>(op.immediate);
  if (count > present) return misuse(op, warp, "`.dec` to more than before");
  warp.cta->sync.free_registers += present - count;
  warp.sync.registers = count;
  warp.cta->wake(Wait::Kind::register_pool, 0);
  return &op + 1;
}

const Op* run_increase(const Op& op, Warp& warp) {
  if (!warp.require_aligned(op)) return nullptr;
  const uint32_t present = present_registers(warp);
  const auto count = static_cast<uint32_t>(op.immediate);
  if (count < present) return misuse(op, warp, "`.inc` to less than before");
  if (count - present > warp.cta->sync.free_registers) {
    warp.block(&op, {Wait::Kind::register_pool, 0, count - present, op.instruction});
    return nullptr;
  }
  warp.cta->sync.free_registers -= count - present;
  warp.sync.registers = count;
  return &op + 1;
}

}  // namespace

void bind_setmaxnreg(Decoder& decoder) {
  const auto count = static_cast<uint64_t>(decoder.operand(0).value);
  if (count % 8 != 0) return decoder.not_modelled("a register count that is no multiple of 8");
  decoder
      .emit(decoder.has(ptx::Mod::inc) ? control_handlers<run_increase>
                                       : control_handlers<run_decrease>)
      .immediate = count;
}

}  // namespace lw::machine
