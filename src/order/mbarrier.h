#pragma once
// Steps on an mbarrier object that several files take (mbarrier.cpp, cp_async.cpp, bulk.cpp).

#include "order/check.h"
#include "order/core.h"

namespace lw::order {

// The live object, or null after reporting that there is none (E-1).
MbarrierState* find_object(Core& core, const Warp& warp, OpId op, LaneMask lanes, Mbarrier object);

// The lanes use the object now: the init must be known to them (MB-1).
void use_object(Core& core, MbarrierState& state, Warp& warp, OpId op, LaneMask lanes);

// D-2: what the lanes bring must not be able to land in the phase before.
void check_forced(Core& core, const MbarrierState& state, const Warp& warp, OpId op,
                  LaneMask lanes);

// D-3b and D-3, at the completion of a phase.
void check_expected(Core& core, const Cta& cta, const MbarrierState& state);
void check_lapping(Core& core, const Cta& cta, const MbarrierState& state);

Party party_of(const Warp& warp, OpId op, LaneMask lanes, uint32_t count);
Party party_of(CtaId cta, const ControlEvent& event);

}  // namespace lw::order
