#include "machine/procedure_ops.h"

#include <cstring>
#include <optional>

#include "machine/core_ops.h"
#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/warp.h"
#include "program/layout.h"

namespace lw::machine::procedures {
namespace {

using program::ProcedureCall;
using program::SlotClass;

struct Header {
  uint32_t call = 0;
  uint32_t stack_pointer = 0;
  uint32_t frame_pointer = 0;
  uint32_t procedure = 0;
};
static_assert(sizeof(Header) == 16);  // keeps records aligned

constexpr uint32_t kAlign = 16;
uint32_t aligned(uint32_t value) { return static_cast<uint32_t>(program::align_up(value, kAlign)); }

std::byte* memory_of(const Warp& warp, int lane) {
  return warp.local + static_cast<size_t>(lane) * warp.local_bytes;
}

// One lane's part of a slot.
void read_slot(const Warp& warp, Slot slot, size_t bytes, int lane, std::byte* to) {
  if (bytes == 1) {
    *to = static_cast<std::byte>(warp.predicate(slot) >> lane & 1);
  } else {
    std::memcpy(to, warp.registers + slot.offset + bytes * static_cast<size_t>(lane), bytes);
  }
}
void write_slot(const Warp& warp, Slot slot, size_t bytes, int lane, const std::byte* from) {
  if (bytes == 1) {
    warp.set_predicate(slot, 1u << lane, static_cast<uint32_t>(*from) << lane);
  } else {
    std::memcpy(warp.registers + slot.offset + bytes * static_cast<size_t>(lane), from, bytes);
  }
}

// What goes with one lane through one invocation.
class Activation {
 public:
  Activation(const Op& op, const Warp& warp, int lane)
      : warp_(warp),
        lane_(lane),
        memory_(memory_of(warp, lane)),
        stack_pointer_(warp.lanes<uint32_t>(op.a)[lane]),
        frame_pointer_(warp.lanes<uint32_t>(op.b)[lane]) {}

  // False: the stack is full.
  bool open(uint32_t index) {
    const ProcedureCall& call = warp_.program->procedure_calls[index];
    const uint64_t kept = aligned(stack_pointer_);
    const uint64_t header = aligned(static_cast<uint32_t>(kept) + call.saved_bytes);
    const uint64_t record = header + sizeof(Header);
    if (record + call.record_bytes > warp_.local_bytes) return false;
    std::byte* at = memory_ + kept;
    for (const ProcedureCall::Saved& saved : call.saved) {
      read_slot(warp_, saved.slot, saved.bytes, lane_, at);
      at += saved.bytes;
    }
    const Header head{index, stack_pointer_, frame_pointer_, call.procedure};
    std::memcpy(memory_ + header, &head, sizeof head);
    const uint32_t outside = call.from_record ? frame_pointer_ : 0;
    for (const ProcedureCall::Copied& one : call.params)
      std::memcpy(memory_ + record + one.inside, memory_ + outside + one.outside, one.bytes);
    frame_pointer_ = static_cast<uint32_t>(record);
    stack_pointer_ = static_cast<uint32_t>(record + call.record_bytes);
    return true;
  }

  // The invocation that opened the record; nothing: the kernel has written over it.
  std::optional<uint32_t> opened_by(uint32_t procedure) const {
    if (frame_pointer_ < sizeof(Header) || frame_pointer_ > warp_.local_bytes) return std::nullopt;
    const Header head = header();
    const auto& calls = warp_.program->procedure_calls;
    const bool fits = head.call < calls.size() && head.procedure == procedure &&
                      calls[head.call].procedure == procedure &&
                      head.stack_pointer < frame_pointer_ && head.frame_pointer <= frame_pointer_;
    return fits ? std::optional(head.call) : std::nullopt;
  }

  void close() {
    const Header head = header();
    const ProcedureCall& call = warp_.program->procedure_calls[head.call];
    const uint32_t outside = call.from_record ? head.frame_pointer : 0;
    for (const ProcedureCall::Copied& one : call.returns)
      std::memcpy(memory_ + outside + one.outside, memory_ + frame_pointer_ + one.inside,
                  one.bytes);
    const std::byte* at = memory_ + aligned(head.stack_pointer);
    for (const ProcedureCall::Saved& saved : call.saved) {
      write_slot(warp_, saved.slot, saved.bytes, lane_, at);
      at += saved.bytes;
    }
    stack_pointer_ = head.stack_pointer;
    frame_pointer_ = head.frame_pointer;
  }

  uint32_t stack_pointer() const { return stack_pointer_; }
  uint32_t frame_pointer() const { return frame_pointer_; }

 private:
  Header header() const {
    Header head;
    std::memcpy(&head, memory_ + frame_pointer_ - sizeof head, sizeof head);
    return head;
  }

  const Warp& warp_;
  int lane_;
  std::byte* memory_;
  uint32_t stack_pointer_;
  uint32_t frame_pointer_;
};

void keep(const Op& op, const Warp& warp, int lane, const Activation& activation) {
  warp.lanes<uint32_t>(op.a)[lane] = activation.stack_pointer();
  warp.lanes<uint32_t>(op.b)[lane] = activation.frame_pointer();
}

}  // namespace

const Op* invoke(const Op& op, Warp& warp) {
  bool full = false;
  for_each_lane(warp.active, [&](int lane) {
    Activation activation(op, warp, lane);
    full |= !activation.open(static_cast<uint32_t>(op.immediate));
    keep(op, warp, lane, activation);
  });
  if (full) {
    warp.not_analysed(op, std::string(kStackIsFull));
    return nullptr;
  }
  warp.fuel -= op.length;
  return warp.program->ops.data() + warp.program->procedure_calls[op.immediate].start;
}

const Op* leave(const Op& op, Warp& warp) {
  const auto procedure = static_cast<uint32_t>(op.immediate);
  const Op* target = nullptr;
  LaneMask lost = 0, left = warp.active;
  const auto opened_by = [&](int lane) { return Activation(op, warp, lane).opened_by(procedure); };
  for_each_value(warp.active, opened_by, [&](std::optional<uint32_t> call, LaneMask lanes) {
    if (!call) {
      lost = lanes;
      return;
    }
    for_each_lane(lanes, [&](int lane) {
      Activation activation(op, warp, lane);
      activation.close();
      keep(op, warp, lane, activation);
    });
    target = warp.program->ops.data() + warp.program->procedure_calls[*call].behind;
    left &= ~lanes;
    if (lanes != warp.active) note_way(warp, lanes, target);
    if (left != 0) warp.split_off(lanes, target);
  });
  if (lost != 0) {
    warp.fail(op, FaultKind::out_of_bounds, "a function returns, and its stack is written over",
              lost);
    return nullptr;
  }
  warp.fuel -= op.length;
  return target;
}

namespace {

size_t lane_bytes(SlotClass kind) { return kind == SlotClass::wide ? 8 : 4; }

std::byte* place(const Op& op, const Warp& warp, int lane) {
  return memory_of(warp, lane) + warp.lanes<uint32_t>(op.b)[lane] + op.immediate;
}

}  // namespace

void fetch(const Op& op, Warp& warp) {
  const auto kind = static_cast<SlotClass>(op.detail);
  for_each_lane(warp.active, [&](int lane) {
    std::byte value[8] = {};
    std::memcpy(value, place(op, warp, lane), op.extra);
    write_slot(warp, op.d, kind == SlotClass::predicate ? 1 : lane_bytes(kind), lane, value);
  });
}

void put(const Op& op, Warp& warp) {
  const auto kind = static_cast<SlotClass>(op.detail);
  for_each_lane(warp.active, [&](int lane) {
    std::byte value[8] = {};
    read_slot(warp, op.a, kind == SlotClass::predicate ? 1 : lane_bytes(kind), lane, value);
    std::memcpy(place(op, warp, lane), value, op.extra);
  });
}

void move(const Op& op, Warp& warp) {
  const auto kind = static_cast<SlotClass>(op.detail);
  if (kind == SlotClass::predicate)
    return warp.set_predicate(op.d, warp.active, warp.predicate(op.a));
  for_each_lane(warp.active, [&](int lane) {
    std::byte value[8];
    read_slot(warp, op.a, lane_bytes(kind), lane, value);
    write_slot(warp, op.d, lane_bytes(kind), lane, value);
  });
}

void add_base(const Op& op, Warp& warp) {
  const bool wide = static_cast<SlotClass>(op.detail) == SlotClass::wide;
  for_each_lane(warp.active, [&](int lane) {
    const uint32_t sum = warp.lanes<uint32_t>(op.a)[lane] + static_cast<uint32_t>(op.immediate);
    if (wide) {
      warp.lanes<uint64_t>(op.d)[lane] = sum;
    } else {
      warp.lanes<uint32_t>(op.d)[lane] = sum;
    }
  });
}

}  // namespace lw::machine::procedures
