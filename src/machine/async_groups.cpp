#include "machine/async_groups.h"

#include <algorithm>

#include "machine/each_lane.h"

namespace lw::machine {

using base::LaneMask;

void AsyncGroups::issue(LaneMask lanes, const void* operation) {
  ++issued_;
  for_each_value(
      lanes, [&](int lane) { return commits_[lane]; },
      [&](uint32_t group, LaneMask same) {
        entries_.push_back({operation, issued_, same, group, false});
      });
}

void AsyncGroups::commit(LaneMask lanes) {
  for_each_lane(lanes, [&](int lane) { ++commits_[lane]; });
}

void AsyncGroups::done(const void* operation, CopyPart part) {
  if (part == CopyPart::writes) {
    std::erase_if(entries_, [&](const Entry& entry) { return entry.operation == operation; });
    return;
  }
  for (Entry& entry : entries_)
    if (entry.operation == operation) entry.reads_done = true;
}

bool AsyncGroups::is_done(LaneMask lanes, uint32_t left, CopyPart part) const {
  for (const Entry& entry : entries_) {
    if (part == CopyPart::reads && entry.reads_done) continue;
    bool asked_for = false;
    for_each_lane(entry.lanes & lanes,
                  [&](int lane) { asked_for |= uint64_t{entry.group} + left < commits_[lane]; });
    if (asked_for) return false;
  }
  return true;
}

bool AsyncGroups::is_idle(LaneMask lanes) const {
  return std::none_of(entries_.begin(), entries_.end(),
                      [&](const Entry& entry) { return (entry.lanes & lanes) != 0; });
}

bool AsyncGroups::has_before(LaneMask lanes, uint64_t place) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.place <= place && (entry.lanes & lanes) != 0;
  });
}

}  // namespace lw::machine
