// Hints to the caches: prefetch, applypriority, createpolicy (PTX: Data Movement). They change no
// value that a program could see and order nothing (rules A-7, TM-15), so nothing is done; a policy
// is an opaque number that only other hints take.

#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/bind.h"

namespace lw::machine {
namespace {

void run_nothing(const Op&, Warp&) {}

void run_policy(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) { warp.lanes<uint64_t>(op.d)[lane] = 0; });
}

void bind_hint(Decoder& decoder) { decoder.emit(plain_handlers<run_nothing>); }
void bind_policy(Decoder& decoder) {
  decoder.emit(plain_handlers<run_policy>, decoder.result(decoder.operand(0), ptx::Type::b64));
}

}  // namespace

void bind_prefetch(Decoder& decoder) { bind_hint(decoder); }
void bind_prefetch_valid(Decoder& decoder) { bind_hint(decoder); }
void bind_prefetch_evict(Decoder& decoder) { bind_hint(decoder); }
void bind_prefetchu(Decoder& decoder) { bind_hint(decoder); }
void bind_prefetch_tensormap(Decoder& decoder) { bind_hint(decoder); }
void bind_applypriority(Decoder& decoder) { bind_hint(decoder); }
void bind_createpolicy_fractional(Decoder& decoder) { bind_policy(decoder); }
void bind_createpolicy_range(Decoder& decoder) { bind_policy(decoder); }
void bind_createpolicy_cvt(Decoder& decoder) { bind_policy(decoder); }

}  // namespace lw::machine
