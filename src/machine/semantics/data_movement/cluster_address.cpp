// mapa and getctarank (PTX: Data Movement). An address in a CTA's own shared memory names the same
// bytes in `.shared::cta` and `.shared::cluster` (rule K-10), so mapping to the own rank changes
// nothing; addresses of other CTAs are cluster_site.h's.

#include <fmt/format.h>

#include "machine/cta.h"
#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/machine.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/cluster_site.h"

namespace lw::machine {
namespace {

// Op: d result, a address, b rank.
template <class Number>
void run_mapa(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) {
    if (warp.machine->has_ended()) return;
    const uint32_t rank = warp.lanes<uint32_t>(op.b)[lane];
    const size_t size = warp.cta->cluster.size();
    if (rank >= size)
      return warp.fail(op, FaultKind::peer_misuse,
                       fmt::format("rank {} in a cluster of {} CTAs", rank, size), 1u << lane);
    Number address = warp.lanes<Number>(op.a)[lane];
    if (rank != warp.cta->cluster_rank) {
      if (sizeof(Number) > sizeof(uint32_t) || rank_bits(address) != 0)
        return warp.not_analysed(op, "the shared memory of another CTA of the cluster");
      address = address_in_cta(static_cast<uint32_t>(address), rank);
    }
    warp.lanes<Number>(op.d)[lane] = address;
  });
}

// Op: d result, a address.
template <class Number>
void run_rank(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) {
    const uint64_t address = warp.lanes<Number>(op.a)[lane];
    // Generic addresses of other CTAs are not made.
    const uint64_t rank = address >> 32 == 0 ? rank_bits(address) : 0;
    warp.lanes<uint32_t>(op.d)[lane] =
        rank == 0 ? warp.cta->cluster_rank : static_cast<uint32_t>(rank - 1);
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
