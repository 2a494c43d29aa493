// Functions that the driver provides: vprintf, __assertfail, malloc, free.
//
// A call to a function without a body. Its arguments stand in `.param` areas of the caller, which
// are local memory here; the result goes to another one. What the host reads on behalf of such a
// call (a format, a message, the block of arguments) is told to nobody: no access of the kernel.

#include "machine/semantics/builtins.h"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "machine/cta.h"
#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/launch.h"
#include "machine/machine.h"
#include "machine/semantics/miscellaneous/printf_format.h"

namespace lw::machine {
namespace {

using program::Decoder;
using ptx::OperandKind;
using ptx::Type;

constexpr uint64_t kLongestText = 1 << 16;

// --- memory, as a lane's generic pointer sees it ---

std::byte* inside(std::span<std::byte> window, uint64_t address, uint64_t size) {
  if (address >= window.size() || size > window.size() - address) return nullptr;
  return window.data() + address;
}

std::span<std::byte> local_of(const Warp& warp, int lane) {
  return {warp.local + static_cast<size_t>(lane) * warp.local_bytes, warp.local_bytes};
}

// Null: no such memory.
std::byte* bytes_at(const Warp& warp, int lane, uint64_t address, uint64_t size) {
  switch (Memory::kind(address)) {
    case RegionKind::global:
      return warp.machine->memory().resolve(address, size);
    case RegionKind::shared:
      return warp.cta->shared_bytes(address - Memory::kSharedWindow - warp.shared_base, size);
    case RegionKind::local:
      return inside(local_of(warp, lane), address - Memory::kLocalWindow, size);
    case RegionKind::constant:
      return inside(warp.machine->constants(), address - Memory::kConstantWindow, size);
    case RegionKind::param:
      return inside(warp.cta->launch->request.parameters, address - Memory::kParamWindow, size);
    case RegionKind::none:
      break;
  }
  return nullptr;
}

uint64_t read_bytes(const std::byte* from, uint32_t bytes) {
  uint64_t value = 0;
  if (from != nullptr) std::memcpy(&value, from, bytes);
  return value;
}

std::string text_at(const Warp& warp, int lane, uint64_t address) {
  std::string text;
  while (text.size() < kLongestText) {
    const std::byte* at = bytes_at(warp, lane, address + text.size(), 1);
    if (at == nullptr || *at == std::byte{0}) break;
    text += static_cast<char>(*at);
  }
  return text;
}

// --- arguments: an Op's slots at `more` hold the offsets of their areas in local memory ---

uint64_t argument(const Op& op, const Warp& warp, int lane, size_t index, uint32_t bytes) {
  const Slot slot = warp.program->more(op)[index];
  const uint64_t offset = warp.lanes<uint64_t>(slot)[lane];
  return read_bytes(inside(local_of(warp, lane), offset, bytes), bytes);
}

// --- vprintf(format, block of arguments) ---

class LaneArguments final : public PrintfArguments {
 public:
  LaneArguments(const Warp& warp, int lane, uint64_t block)
      : warp_(warp), lane_(lane), block_(block) {}

  uint64_t read(uint64_t offset, uint32_t bytes) override {
    return read_bytes(bytes_at(warp_, lane_, block_ + offset, bytes), bytes);
  }
  std::string read_text(uint64_t address) override { return text_at(warp_, lane_, address); }

 private:
  const Warp& warp_;
  int lane_;
  uint64_t block_;
};

// `detail`: there is a result, whose area is the last one.
void run_vprintf(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) {
    const std::string format = text_at(warp, lane, argument(op, warp, lane, 0, 8));
    LaneArguments arguments(warp, lane, argument(op, warp, lane, 1, 8));
    const Printed printed = format_printf(format, arguments);
    warp.machine->print(printed.text);
    if (op.detail == 0) return;
    const uint64_t offset = warp.lanes<uint64_t>(warp.program->more(op)[2])[lane];
    std::byte* result = inside(local_of(warp, lane), offset, 4);
    if (result != nullptr) std::memcpy(result, &printed.arguments, 4);
  });
}

// --- __assertfail(message, file, line, function, bytes of a character) ---

void run_assertfail(const Op& op, Warp& warp) {
  const int lane = std::countr_zero(warp.active);
  const auto text = [&](size_t index) {
    return text_at(warp, lane, argument(op, warp, lane, index, 8));
  };
  warp.fail(op, FaultKind::assertion,
            fmt::format("assertion `{}` in `{}` ({}:{})", text(0), text(3), text(1),
                        argument(op, warp, lane, 2, 4)));
}

// --- binding ---

// The elements of the call's argument lists: those before the function's name are its results.
struct Areas {
  std::vector<Slot> results;
  std::vector<Slot> arguments;
  bool in_memory = true;  // all are `.param` variables
};

Areas areas_of(Decoder& decoder) {
  Areas areas;
  bool before_name = true;
  for (const ptx::Operand& operand : decoder.operands()) {
    if (operand.kind == OperandKind::function) before_name = false;
    if (operand.kind != OperandKind::arguments) continue;
    for (const ptx::Operand& area : decoder.elements(operand)) {
      areas.in_memory = areas.in_memory && area.kind == OperandKind::symbol;
      (before_name ? areas.results : areas.arguments).push_back(decoder.source(area, Type::u64));
    }
  }
  return areas;
}

void bind_call(Decoder& decoder, Handlers handlers, size_t arguments) {
  Areas areas = areas_of(decoder);
  if (!areas.in_memory || areas.arguments.size() != arguments)
    return decoder.not_modelled("a call of the driver's function with other arguments than it has");
  const bool has_result = !areas.results.empty();
  if (has_result) areas.arguments.push_back(areas.results[0]);
  Op& op = decoder.emit(handlers);
  op.detail = has_result;
  decoder.attach(op, areas.arguments);
}

void bind_vprintf(Decoder& decoder) { bind_call(decoder, plain_handlers<run_vprintf>, 2); }
void bind_assertfail(Decoder& decoder) { bind_call(decoder, plain_handlers<run_assertfail>, 5); }
void refuse_heap(Decoder& decoder) { decoder.not_modelled("the heap of the device"); }

}  // namespace

program::Bind builtin_of(std::string_view name) {
  if (name == "vprintf") return &bind_vprintf;
  if (name == "__assertfail") return &bind_assertfail;
  if (name == "malloc" || name == "free") return &refuse_heap;
  return nullptr;
}

}  // namespace lw::machine
