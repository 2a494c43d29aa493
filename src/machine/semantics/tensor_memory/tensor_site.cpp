#include "machine/semantics/tensor_memory/tensor_site.h"

#include <fmt/format.h>

#include <algorithm>

#include "machine/each_lane.h"
#include "machine/semantics/parallel_synchronization/mbarrier_site.h"
#include "machine/tensor_memory_descriptors.h"

namespace lw::machine {

using diagnose::RuleId;

void misuse_tensor_memory(const Op& op, Warp& warp, std::string text, RuleId rule,
                          base::LaneMask lanes) {
  warp.fail(op, FaultKind::tensor_memory_misuse, std::move(text), lanes, rule);
}

bool require_whole_warp(const Op& op, Warp& warp) {
  if (!warp.require_aligned(op)) return false;
  if (warp.active == base::kAllLanes) return true;
  warp.fail(op, FaultKind::divergent_aligned,
            "lanes of the warp have exited, or it has fewer than 32");
  return false;
}

std::optional<uint32_t> uniform_value(const Op& op, Warp& warp, std::string_view what, Slot slot) {
  const uint32_t* values = warp.lanes<uint32_t>(slot);
  const int first = std::countr_zero(warp.active);
  base::LaneMask different = 0;
  for_each_lane(warp.active, [&](int lane) {
    if (values[lane] != values[first]) different |= 1u << lane;
  });
  if (different == 0) return values[first];
  misuse_tensor_memory(op, warp,
                       fmt::format("the {} differs between lanes: {:#x} and {:#x}", what,
                                   values[first], values[std::countr_zero(different)]),
                       RuleId::kE13, different);
  return std::nullopt;
}

bool check_columns(const Op& op, Warp& warp, uint32_t first, uint32_t count, base::LaneMask lanes) {
  return check_columns(op, warp, *warp.cta, first, count, lanes);
}

bool check_columns(const Op& op, Warp& warp, const Cta& cta, uint32_t first, uint32_t count,
                   base::LaneMask lanes) {
  if (first + count > kTensorColumns) {
    misuse_tensor_memory(
        op, warp, fmt::format("columns {} to {}, of {}", first, first + count - 1, kTensorColumns),
        RuleId::kT5_25, lanes);
    return false;
  }
  using Holding = TensorMemory::Holding;
  const TensorMemory::Held held = warp.machine->tensor_memory(cta.sm).held(cta.id, first, count);
  if (held.holding == Holding::live) return true;
  const bool by_this_warp = &cta == warp.cta && held.freed && held.freed->freed_in == warp.id;
  if (held.holding == Holding::freed && !by_this_warp) return true;
  misuse_tensor_memory(
      op, warp,
      fmt::format("column {} of columns {} to {} {}", held.column, first, first + count - 1,
                  held.holding == Holding::freed ? "was freed by this warp"
                                                 : "is in no allocation of the CTA"),
      RuleId::kT5_25, lanes);
  return false;
}

std::optional<uint32_t> operand_piece(const Op& op, Warp& warp, const Cta& cta, uint32_t address,
                                      int lane) {
  const uint32_t offset = address - program::kSharedBase;
  if (offset >= warp.shared_bytes || kPieceBytes > warp.shared_bytes - offset) {
    warp.fail_at(op, FaultKind::out_of_bounds,
                 fmt::format("an operand reaches outside the {} bytes of shared memory of the CTA",
                             warp.shared_bytes),
                 1u << lane, address, kPieceBytes);
    return std::nullopt;
  }
  const MbarrierEntry* object = cta.sync.mbarriers.overlapping(offset, kPieceBytes);
  if (object == nullptr) return offset;
  report(op, warp, cta, *object, 1u << lane, "an operand lies over it", RuleId::kE3);
  return std::nullopt;
}

std::vector<order::Range> ranges_of(std::vector<uint32_t> pieces) {
  std::ranges::sort(pieces);
  std::vector<order::Range> ranges;
  for (uint32_t piece : pieces) {
    const uint64_t end = ranges.empty() ? 0 : ranges.back().base + ranges.back().bytes;
    if (!ranges.empty() && piece <= end) {
      ranges.back().bytes = std::max(end, uint64_t{piece} + kPieceBytes) - ranges.back().base;
    } else {
      ranges.push_back({piece, kPieceBytes});
    }
  }
  return ranges;
}

bool is_single_cta(program::Decoder& decoder) {
  if (!decoder.has(ptx::Mod::cta_group_2)) return true;
  decoder.not_modelled("tensor memory of a pair of CTAs");
  return false;
}

}  // namespace lw::machine
