#pragma once
// Steps on an mbarrier object that several files take (mbarrier.cpp, cp_async.cpp, bulk.cpp).

#include "order/check.h"
#include "order/core.h"

namespace lw::order {

// TM-16: lanes exit while a bulk store of theirs may still read the CTA's shared memory (bulk.cpp).
void check_exit(Core& core, const Warp& warp, LaneMask lanes);

inline constexpr uint32_t kMbarrierBytes = 8;

// The live object, or null after reporting that there is none (E-1).
MbarrierState* find_object(Core& core, const Warp& warp, OpId op, LaneMask lanes, Mbarrier object);

// The lanes use the object now: the init must be known to them (MB-1). A use counts as an access,
// since the end of the object's life must know it as one (MB-4).
void use_object(Core& core, MbarrierState& state, Warp& warp, OpId op, LaneMask lanes);

// A signal of an operation that another CTA issued (K-8).
void note_signal(MbarrierState& state, const Pending& pending);

// D-2: what the lanes bring must not be able to land in the phase before.
void check_forced(Core& core, MbarrierState& state, const Warp& warp, OpId op, LaneMask lanes);
// The same of an asynchronous operation whose signal lands now.
void check_landing(Core& core, MbarrierState& state, const Pending& pending);
// D-3, from the side of the wait: asked earlier it must not have got an earlier phase. `passed`:
// the wait has the phase that was complete last; else it stands blocked on the one after that.
void check_early_wait(Core& core, const MbarrierState& state, const Warp& warp, OpId op,
                      LaneMask lanes, bool passed);

// D-3b and D-3, at the completion of a phase.
void check_expected(Core& core, MbarrierState& state);
void check_lapping(Core& core, const MbarrierState& state);

Party party_of(const Warp& warp, OpId op, LaneMask lanes, uint32_t count);
Party party_of(const ControlEvent& event);

}  // namespace lw::order
