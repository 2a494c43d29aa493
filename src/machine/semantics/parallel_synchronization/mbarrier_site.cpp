#include "machine/semantics/parallel_synchronization/mbarrier_site.h"

#include <fmt/format.h>

#include <cstring>

#include "machine/machine.h"
#include "machine/semantics/parallel_synchronization/mbarrier_wait.h"
#include "machine/sync_hooks.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

using ptx::Mod;

constexpr uint32_t kObjectAlignment = 8;

std::string at_address(const Cta& owner, uint32_t offset) {
  return fmt::format("the mbarrier object at shared address {:#x}", offset + owner.shared_base());
}

}  // namespace

uint16_t ordering_bits(const program::Decoder& decoder, order::Strength when_unnamed) {
  const auto strength = decoder.has(Mod::relaxed) ? order::Strength::kRelaxed : when_unnamed;
  const auto scope = decoder.has(Mod::cluster) ? order::Scope::kCluster : order::Scope::kCta;
  return static_cast<uint16_t>((static_cast<uint32_t>(strength) | static_cast<uint32_t>(scope) << 3)
                               << kOrderingShift);
}

Ordering ordering_of(const Op& op) {
  const uint32_t bits = op.detail >> kOrderingShift;
  return {static_cast<order::Strength>(bits & 7), static_cast<order::Scope>(bits >> 3 & 7)};
}

MbarrierEntry* object_at(const Op& op, Warp& warp, const AddressOperand& operand, int lane) {
  const auto offset =
      shared_offset(op, warp, operand, lane, MbarrierTable::kObjectBytes, kObjectAlignment);
  if (!offset) return nullptr;
  MbarrierEntry* entry = warp.cta->sync.mbarriers.find(*offset);
  if (entry == nullptr)
    warp.fail_at(op, FaultKind::mbarrier_misuse, "no valid mbarrier object is there", 1u << lane,
                 address_of_lane(warp, operand, lane), MbarrierTable::kObjectBytes);
  return entry;
}

order::Mbarrier place_of(const Cta& cta, const MbarrierEntry& entry) {
  return {cta.id, entry.offset};
}

void report(const Op& op, Warp& warp, const Cta& owner, const MbarrierEntry& entry,
            base::LaneMask lanes, std::string_view what, diagnose::RuleId rule) {
  const Mbarrier& object = entry.object;
  warp.fail_at(op, FaultKind::mbarrier_misuse,
               fmt::format("{}: {} (phase {}, {} of {} arrivals pending, {} bytes pending)",
                           at_address(owner, entry.offset), what, object.phase(), object.pending(),
                           object.expected(), object.tx()),
               lanes, entry.offset + owner.shared_base(), MbarrierTable::kObjectBytes, rule);
}

void draw(Cta& cta, const MbarrierEntry& entry) {
  const uint64_t image = entry.object.image();
  std::memcpy(cta.shared.data() + entry.offset, &image, sizeof image);
}

void phase_completed(Cta& cta, const MbarrierEntry& entry) {
  if (cta.machine->order()) cta.machine->order()->mbarrier_complete(place_of(cta, entry));
  for (Warp& warp : cta.warps) {
    if (warp.parked.empty()) continue;
    warp.wake_if([&](Group& group) {
      if (group.wait.kind != Wait::Kind::mbarrier || group.wait.object != entry.offset)
        return false;
      pass_wait(*group.at, warp, group.lanes, entry);
      ++group.at;
      return true;
    });
  }
}

MbarrierEntry* signalled_object(const Op& op, Warp& warp, Cta& cta, uint32_t offset,
                                base::LaneMask lanes, std::string_view done) {
  MbarrierEntry* entry = cta.sync.mbarriers.find(offset);
  if (entry != nullptr) {
    --entry->signals_pending;
    return entry;
  }
  warp.fail_at(op, FaultKind::mbarrier_misuse,
               fmt::format("the mbarrier object is not valid any more when {}", done), lanes,
               offset + cta.shared_base(), MbarrierTable::kObjectBytes);
  return nullptr;
}

void take_signal(const Op& op, Warp& warp, Cta& cta, const MbarrierEntry& entry,
                 base::LaneMask lanes, const Mbarrier::Outcome& outcome) {
  if (outcome.fault != MbarrierFault::none)
    return report(op, warp, cta, entry, lanes, mbarrier_fault_text(outcome.fault));
  if (outcome.completed) phase_completed(cta, entry);
  draw(cta, entry);
}

bool is_waited_for(const Cta& cta, const MbarrierEntry& entry) {
  for (const Warp& warp : cta.warps)
    for (const Group& group : warp.parked)
      if (group.wait.kind == Wait::Kind::mbarrier && group.wait.object == entry.offset) return true;
  return false;
}

std::string describe_mbarrier(const Cta& cta, const Wait& wait) {
  const auto offset = static_cast<uint32_t>(wait.object);
  for (const MbarrierEntry& entry : cta.sync.mbarriers.entries()) {
    if (entry.offset != offset) continue;
    const Mbarrier& object = entry.object;
    std::string text =
        fmt::format("{}, phase {}: {} of {} arrivals are missing", at_address(cta, offset),
                    object.phase(), object.pending(), object.expected());
    if (object.tx() > 0) text += fmt::format(", and {} expected bytes", object.tx());
    if (object.tx() < 0) text += fmt::format(", and {} bytes came unexpected", -object.tx());
    return text;
  }
  return at_address(cta, offset) + ", which is not valid any more";
}

}  // namespace lw::machine
