#include "machine/mbarrier.h"

#include <algorithm>

#include "base/check.h"

namespace lw::machine {

std::string_view mbarrier_fault_text(MbarrierFault fault) {
  switch (fault) {
    case MbarrierFault::none:
      return "none";
    case MbarrierFault::count_range:
      return "the count is outside 1..1048575";
    case MbarrierFault::too_many_arrivals:
      return "more arrivals than the phase has pending";
    case MbarrierFault::completes_phase:
      return "a `.noComplete` arrival completes the phase";
    case MbarrierFault::drops_to_zero:
      return "no expected arrival is left for the next phase";
    case MbarrierFault::tx_range:
      return "the count of bytes leaves its range of 2^20-1 either way";
    case MbarrierFault::phase_not_waitable:
      return "the state is of neither the current phase nor the one just before";
  }
  return "";
}

MbarrierFault Mbarrier::check_count(uint32_t count) {
  return count == 0 || count > kMaxCount ? MbarrierFault::count_range : MbarrierFault::none;
}

Mbarrier::Outcome Mbarrier::arrive(const Arrive& arrive) { return arrive_expect(0, arrive); }

Mbarrier::Outcome Mbarrier::arrive_expect(int64_t bytes, const Arrive& arrive) {
  if (MbarrierFault fault = check_count(arrive.count); fault != MbarrierFault::none)
    return {fault, false};
  const int64_t tx = tx_ + bytes;
  if (tx > kMaxTx || tx < -kMaxTx) return {MbarrierFault::tx_range, false};
  if (arrive.count > pending_) return {MbarrierFault::too_many_arrivals, false};
  if (arrive.no_complete && arrive.count == pending_ && tx == 0)
    return {MbarrierFault::completes_phase, false};
  if (arrive.drop && arrive.count >= expected_) return {MbarrierFault::drops_to_zero, false};
  tx_ = static_cast<int32_t>(tx);
  pending_ -= arrive.count;
  if (arrive.drop) expected_ -= arrive.count;
  return {MbarrierFault::none, settle()};
}

Mbarrier::Outcome Mbarrier::expect(int64_t bytes) {
  const int64_t tx = tx_ + bytes;
  if (tx > kMaxTx || tx < -kMaxTx) return {MbarrierFault::tx_range, false};
  tx_ = static_cast<int32_t>(tx);
  return {MbarrierFault::none, settle()};
}

MbarrierFault Mbarrier::add_pending() {
  if (pending_ == kMaxCount) return MbarrierFault::count_range;
  ++pending_;
  return MbarrierFault::none;
}

bool Mbarrier::settle() {
  if (pending_ != 0 || tx_ != 0) return false;
  ++phase_;
  pending_ = expected_;
  return true;
}

MbarrierFault Mbarrier::check_state(uint64_t state) const {
  const int64_t phase = phase_of(state);
  return phase == phase_ || phase == phase_ - 1 ? MbarrierFault::none
                                                : MbarrierFault::phase_not_waitable;
}

uint64_t Mbarrier::image() const {
  const uint64_t tx = static_cast<uint64_t>(int64_t{tx_} + kMaxTx);  // 0 .. 2^21-2
  return (uint64_t{1} << 63) | (static_cast<uint64_t>(phase_ & 1) << 62) | (tx << 40) |
         (static_cast<uint64_t>(expected_) << 20) | pending_;
}

MbarrierTable::Entry* MbarrierTable::find(uint32_t offset) {
  for (Entry& entry : entries_)
    if (entry.offset == offset) return &entry;
  return nullptr;
}

MbarrierTable::Entry& MbarrierTable::add(uint32_t offset, uint32_t count, base::OpId op) {
  LW_CHECK(overlapping(offset, kObjectBytes) == nullptr, offset);
  auto place = std::find_if(entries_.begin(), entries_.end(),
                            [&](const Entry& entry) { return entry.offset > offset; });
  place = entries_.insert(place, Entry{offset, op, Mbarrier(count), 0});
  const size_t index = static_cast<size_t>(place - entries_.begin());
  measure();
  return entries_[index];
}

void MbarrierTable::remove(uint32_t offset) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.offset == offset; });
  measure();
}

const MbarrierTable::Entry* MbarrierTable::search(uint32_t begin, uint32_t size) const {
  for (const Entry& entry : entries_)
    if (entry.offset < begin + size && begin < entry.offset + kObjectBytes) return &entry;
  return nullptr;
}

void MbarrierTable::measure() {
  begin_ = entries_.empty() ? 0 : entries_.front().offset;
  end_ = entries_.empty() ? 0 : entries_.back().offset + kObjectBytes;
}

}  // namespace lw::machine
