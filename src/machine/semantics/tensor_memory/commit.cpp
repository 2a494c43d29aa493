// tcgen05.commit (PTX: TensorCore 5th Generation Instructions, tcgen05.commit): an arrival on an
// mbarrier, once all products and copies that the thread issued before are complete.

#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/parallel_synchronization/mbarrier_site.h"
#include "machine/semantics/tensor_memory/tensor_site.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

// Op: a address, b displacement.

class ProductArrival final : public AsyncOperation {
 public:
  ProductArrival(const Op& op, Warp& warp, uint32_t offset, base::LaneMask lane,
                 base::AsyncId order_id)
      : op_(op),
        warp_(warp),
        offset_(offset),
        lane_(lane),
        place_(warp.sync.products.now()),
        order_id_(order_id) {}

  bool can_advance() const override { return !warp_.sync.products.has_before(lane_, place_); }
  void perform_read(Machine&) override {}
  void perform_write(Machine&) override;

 private:
  const Op& op_;
  Warp& warp_;
  uint32_t offset_;
  base::LaneMask lane_;
  uint64_t place_;
  base::AsyncId order_id_;  // the order engine's
};

void ProductArrival::perform_write(Machine& machine) {
  Cta& cta = *warp_.cta;
  MbarrierEntry* entry = cta.sync.mbarriers.find(offset_);
  if (entry == nullptr)
    return warp_.fail_at(op_, FaultKind::mbarrier_misuse,
                         "the mbarrier object is not valid any more when the products are complete",
                         lane_, offset_ + program::kSharedBase, MbarrierTable::kObjectBytes);
  --entry->signals_pending;
  if (machine.order()) machine.order()->async_arrive(order_id_);
  const Mbarrier::Outcome outcome = entry->object.arrive({});
  if (outcome.fault != MbarrierFault::none)
    return report(op_, warp_, *entry, lane_, mbarrier_fault_text(outcome.fault));
  if (outcome.completed) phase_completed(cta, *entry);
  draw(cta, *entry);
}

void run_commit(const Op& op, Warp& warp) {
  const AddressOperand operand{op.a, op.b, (op.detail & kWide) != 0, (op.detail & kGeneric) != 0};
  for_each_lane(warp.active, [&](int lane) {
    if (warp.machine->has_ended()) return;
    MbarrierEntry* entry = object_at(op, warp, operand, lane);
    if (entry == nullptr) return;
    ++entry->signals_pending;
    const base::LaneMask only = 1u << lane;
    base::AsyncId order_id;
    if (warp.order)
      order_id = warp.order->tensor_commit(*warp.order_warp, op.instruction,
                                           base::LaneId(static_cast<uint8_t>(lane)),
                                           place_of(*warp.cta, *entry));
    warp.machine
        ->start(std::make_unique<ProductArrival>(op, warp, entry->offset, only, order_id), warp, op)
        .lanes = only;
  });
}

}  // namespace

void bind_tcgen05_commit(Decoder& decoder) {
  if (!is_single_cta(decoder)) return;
  if (decoder.has(ptx::Mod::multicast_cluster))
    return decoder.not_modelled("a commit to several CTAs");
  const AddressOperand address = address_operand(decoder, decoder.operand(0));
  Op& op = decoder.emit(plain_handlers<run_commit>, Slot{}, address.base, address.displacement);
  op.detail = address_bits(address);
}

}  // namespace lw::machine
