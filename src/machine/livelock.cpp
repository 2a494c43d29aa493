#include "machine/livelock.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <span>

#include "machine/core_ops.h"
#include "machine/machine.h"
#include "machine/sync_hooks.h"
#include "order/engine.h"
#include "program/polls.h"

namespace lw::machine {
namespace {

constexpr uint64_t kPatience = 1 << 14;  // rounds in a row before anything is hashed

uint64_t mixed(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

uint64_t hash_of(std::span<const std::byte> bytes, uint64_t hash) {
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    hash = mixed(hash, word);
  }
  for (; at < bytes.size(); ++at) hash = mixed(hash, static_cast<uint64_t>(bytes[at]));
  return hash;
}

uint64_t hash_of(const Warp& warp) {
  uint64_t hash = mixed(warp.cta->id.value, warp.id.value);
  // In whatever order the groups are parked.
  uint64_t groups = 0;
  for (const Group& group : warp.parked) {
    const auto at = static_cast<uint64_t>(group.at - warp.program->ops.data());
    groups += mixed(mixed(group.lanes, at), static_cast<uint64_t>(group.wait.kind));
  }
  hash = mixed(hash, groups);
  hash = hash_of({warp.registers, warp.program->register_bytes}, hash);
  return hash_of({warp.local, warp.local_bytes * size_t{base::kWarpSize}}, hash);
}

uint64_t hash_of_memory(const Machine& machine) {
  uint64_t hash = 0;
  for (const Memory::Buffer& buffer : machine.memory().buffers())
    hash = hash_of({buffer.data, buffer.size}, hash);
  for (const Cta* cta : machine.resident()) hash = hash_of(cta->shared, hash);
  return hash;
}

uint32_t runnable_groups(const Warp& warp) {
  uint32_t count = 0;
  for (const Group& group : warp.parked) count += group.wait.kind == Wait::Kind::none;
  return count;
}

// The instruction by which lanes that stand at `op` poll: the next one of their round.
base::OpId poll_of(const Machine& machine, const Warp& warp, const program::Op* op) {
  const program::Op* const end = warp.program->ops.data() + warp.program->ops.size();
  const program::CoreHandlers& core = core_handlers();
  const base::OpId here = op->instruction;
  bool went_back = false;
  for (int steps = 0; op < end && steps < 1024; ++steps) {
    const program::Place& place = machine.place(op->instruction);
    if (program::is_poll(place.module->opcode_of(place.get()))) return op->instruction;
    const bool jumps = op->full == core.jump.full || op->full == core.branch.full;
    const bool back = jumps && op->jump < 0;
    if (back && went_back) return here;
    went_back |= back;
    op += back || op->full == core.jump.full ? op->jump : 1;
  }
  return here;
}

Waiting waiting_of(const Machine& machine, const Cta& cta, const Warp& warp, const Group& group) {
  Waiting waiting{cta.id, warp.id, group.lanes, group.wait, {}};
  if (group.wait.kind == Wait::Kind::none) {
    waiting.wait.instruction = poll_of(machine, warp, group.at);
    waiting.what = "what nobody is left to bring: it polls";
  } else {
    waiting.what = describe_wait(cta, warp, group);
  }
  return waiting;
}

}  // namespace

void Livelock::begin(const Machine& machine) {
  begin_at_ = rounds_;
  now_.clear();
  went_.clear();
  sum_ = 0;
  has_memory_ = false;
  for (const Cta* cta : machine.resident()) {
    for (const Warp& warp : cta->warps) {
      const uint64_t hash = hash_of(warp);
      now_[{cta->id.value, warp.id.value}] = hash;
      sum_ += hash;
    }
  }
  kept_ = sum_;
}

bool Livelock::all_went_around(const Machine& machine) const {
  for (const Cta* cta : machine.resident()) {
    for (const Warp& warp : cta->warps) {
      const uint32_t groups = runnable_groups(warp);
      const auto went = went_.find({cta->id.value, warp.id.value});
      if (groups != 0 && (went == went_.end() || went->second < 2 * groups)) return false;
    }
  }
  return true;
}

bool Livelock::round(const Machine& machine, const Warp& warp) {
  if (++rounds_ < kPatience) return false;
  // Kept anew at 1, 2, 4, ... times the patience: what comes before a cycle may take long.
  if (std::has_single_bit(rounds_)) begin(machine);
  uint64_t& hash = now_[{warp.cta->id.value, warp.id.value}];
  sum_ -= hash;
  hash = hash_of(warp);
  sum_ += hash;
  if (rounds_ > begin_at_) ++went_[{warp.cta->id.value, warp.id.value}];
  if (sum_ != kept_ || !all_went_around(machine)) return false;
  const uint64_t memory = hash_of_memory(machine);
  if (has_memory_ && memory == memory_) return true;
  has_memory_ = true;
  memory_ = memory;
  went_.clear();
  return false;
}

void tell_polling(const Machine& machine, order::Engine& engine) {
  for (const Cta* cta : machine.resident())
    for (const Warp& warp : cta->warps)
      for (const Group& group : warp.parked)
        if (group.wait.kind == Wait::Kind::none)
          engine.poll_blocked(*warp.order_warp, poll_of(machine, warp, group.at), group.lanes);
}

Fault describe_livelock(const Machine& machine) {
  Fault fault;
  fault.kind = FaultKind::livelock;
  size_t polling = 0;
  for (const Cta* cta : machine.resident()) {
    for (const Warp& warp : cta->warps) {
      for (const Group& group : warp.parked) {
        fault.waiting.push_back(waiting_of(machine, *cta, warp, group));
        const Waiting& waiting = fault.waiting.back();
        if (group.wait.kind != Wait::Kind::none || polling++ != 0) continue;
        fault.instruction = waiting.wait.instruction;
        fault.cta = waiting.cta;
        fault.warp = waiting.warp;
        fault.lanes = waiting.lanes;
        fault.lane = base::LaneId(static_cast<uint8_t>(std::countr_zero(waiting.lanes)));
      }
    }
  }
  fault.text =
      fmt::format("{} groups of threads poll, {} wait, and all stand as they stood a round ago",
                  polling, fault.waiting.size() - polling);
  return fault;
}

}  // namespace lw::machine
