// mapa and getctarank (PTX: Data Movement): the rank in an address of the shared window
// (cluster_site.h).

#include <fmt/format.h>

#include "machine/cta.h"
#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/machine.h"
#include "machine/memory.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/cluster_site.h"

namespace lw::machine {
namespace {

// Generic addresses have 64 bits.
template <class Number>
constexpr uint64_t kWindow = sizeof(Number) > sizeof(uint32_t) ? Memory::kSharedWindow : 0;

// Whether a lane's address is in the shared window; if not, the fault has been reported.
template <class Number>
bool is_shared(const Op& op, Warp& warp, int lane) {
  const uint64_t address = warp.lanes<Number>(op.a)[lane];
  if (kWindow<Number> == 0 || Memory::kind(address) == RegionKind::shared) return true;
  warp.fail_at(op, FaultKind::out_of_bounds, "the generic address is not in shared memory",
               1u << lane, address, 1);
  return false;
}

// Op: d result, a address, b rank.
template <class Number>
void run_mapa(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) {
    if (warp.machine->has_ended() || !is_shared<Number>(op, warp, lane)) return;
    const uint32_t rank = warp.lanes<uint32_t>(op.b)[lane];
    const size_t size = warp.cta->cluster.size();
    if (rank >= size)
      return warp.fail(op, FaultKind::peer_misuse,
                       fmt::format("rank {} in a cluster of {} CTAs", rank, size), 1u << lane);
    const uint64_t address = warp.lanes<Number>(op.a)[lane] - kWindow<Number>;
    warp.lanes<Number>(op.d)[lane] =
        static_cast<Number>(kWindow<Number> + address_of_rank(address, rank));
  });
}

// Op: d result, a address.
template <class Number>
void run_rank(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) {
    if (warp.machine->has_ended() || !is_shared<Number>(op, warp, lane)) return;
    const uint64_t address = warp.lanes<Number>(op.a)[lane] - kWindow<Number>;
    warp.lanes<uint32_t>(op.d)[lane] = static_cast<uint32_t>(rank_of(address));
  });
}

}  // namespace

void bind_mapa(Decoder& decoder) {
  const ptx::Type type = decoder.type();
  decoder.emit(ptx::bits_of(type) > 32 ? plain_handlers<run_mapa<uint64_t>>
                                       : plain_handlers<run_mapa<uint32_t>>,
               decoder.result(decoder.operand(0), type), decoder.source(decoder.operand(1), type),
               decoder.source(decoder.operand(2), ptx::Type::u32));
}

void bind_getctarank(Decoder& decoder) {
  const ptx::Type type = decoder.type();
  decoder.emit(ptx::bits_of(type) > 32 ? plain_handlers<run_rank<uint64_t>>
                                       : plain_handlers<run_rank<uint32_t>>,
               decoder.result(decoder.operand(0), ptx::Type::u32),
               decoder.source(decoder.operand(1), type));
}

}  // namespace lw::machine
