#pragma once
// What the mbarrier instructions and the asynchronous copies share: finding the object at an
// address, changing it, and what follows when a phase completes.

#include <string_view>

#include "machine/cta.h"
#include "machine/semantics/shared_place.h"
#include "order/event.h"

namespace lw::machine {

using MbarrierEntry = MbarrierTable::Entry;

// How an arrive or a wait orders memory; packed into Op::detail from kOrderingShift on.
struct Ordering {
  order::Strength strength;
  order::Scope scope;
};
inline constexpr int kOrderingShift = 8;
uint16_t ordering_bits(const program::Decoder& decoder, order::Strength when_unnamed);
Ordering ordering_of(const Op& op);

// The valid object at a lane's address; without one the fault has been reported (E-1, E-2).
MbarrierEntry* object_at(const Op& op, Warp& warp, const AddressOperand& operand, int lane);
order::Mbarrier place_of(const Cta& cta, const MbarrierEntry& entry);
void report(const Op& op, Warp& warp, const Cta& owner, const MbarrierEntry& entry,
            base::LaneMask lanes, std::string_view what,
            diagnose::RuleId rule = diagnose::RuleId::kE4);

// Keeps the picture of the object in shared memory.
void draw(Cta& cta, const MbarrierEntry& entry);

// The phase is complete: tells the order engine, and lets those go that wait for it.
void phase_completed(Cta& cta, const MbarrierEntry& entry);

// An asynchronous operation signals the object that it was issued with: found again, and no longer
// waited for; null, and the fault has been reported, if it is not valid any more when `done`, as in
// "the copy is done".
MbarrierEntry* signalled_object(const Op& op, Warp& warp, Cta& cta, uint32_t offset,
                                base::LaneMask lanes, std::string_view done);
// What comes of the signal.
void take_signal(const Op& op, Warp& warp, Cta& cta, const MbarrierEntry& entry,
                 base::LaneMask lanes, const Mbarrier::Outcome& outcome);

// Some group of the CTA waits for the object.
bool is_waited_for(const Cta& cta, const MbarrierEntry& entry);

}  // namespace lw::machine
