// tcgen05.commit (PTX: TensorCore 5th Generation Instructions, tcgen05.commit): an arrival on an
// mbarrier, or on those at one place in several CTAs of the cluster, once all products and copies
// that the thread issued before are complete.

#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/cluster_site.h"
#include "machine/semantics/tensor_memory/tensor_site.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

// Op: a address, b displacement, c mask of CTAs.
constexpr uint16_t kMulticast = 1 << 8;

class ProductArrival final : public AsyncOperation {
 public:
  ProductArrival(const Op& op, Warp& warp, const ClusterObject& object, base::LaneMask lane,
                 base::AsyncId order_id)
      : op_(op),
        warp_(warp),
        cta_(object.cta->id),
        offset_(object.entry->offset),
        lane_(lane),
        place_(warp.sync.products.now()),
        order_id_(order_id) {}

  bool can_advance() const override { return !warp_.sync.products.has_before(lane_, place_); }
  void perform_read(Machine&) override {}
  void perform_write(Machine&) override;

 private:
  const Op& op_;
  Warp& warp_;
  base::CtaId cta_;
  uint32_t offset_;
  base::LaneMask lane_;
  uint64_t place_;
  base::AsyncId order_id_;  // the order engine's
};

void ProductArrival::perform_write(Machine& machine) {
  Cta* const cta = machine.cta(cta_);
  if (cta == nullptr)
    return warp_.fail(op_, FaultKind::peer_ended,
                      "the CTA of the mbarrier object has ended when the products are complete",
                      lane_);
  MbarrierEntry* entry =
      signalled_object(op_, warp_, *cta, offset_, lane_, "the products are complete");
  if (entry == nullptr) return;
  if (machine.order()) machine.order()->async_arrive(order_id_);
  take_signal(op_, warp_, *cta, *entry, lane_, entry->object.arrive({}));
}

void start_arrival(const Op& op, Warp& warp, int lane, const ClusterObject& object) {
  ++object.entry->signals_pending;
  const base::LaneMask only = 1u << lane;
  base::AsyncId order_id;
  if (warp.order)
    order_id = warp.order->tensor_commit(*warp.order_warp, op.instruction,
                                         base::LaneId(static_cast<uint8_t>(lane)),
                                         place_of(*object.cta, *object.entry));
  warp.machine->start(std::make_unique<ProductArrival>(op, warp, object, only, order_id), warp, op)
      .lanes = only;
}

// Whichever CTA the address is in: its place there counts.
void commit_to_several(const Op& op, Warp& warp, int lane, uint32_t offset) {
  for_each_rank(op, warp, warp.lanes<uint32_t>(op.c)[lane] & 0xffff, offset, lane,
                [&](const ClusterObject& object) { start_arrival(op, warp, lane, object); });
}

void run_commit(const Op& op, Warp& warp) {
  const AddressOperand operand{op.a, op.b, (op.detail & kWide) != 0, (op.detail & kGeneric) != 0};
  for_each_lane(warp.active, [&](int lane) {
    if (warp.machine->has_ended()) return;
    const ClusterObject object = object_in_cluster(op, warp, operand, lane);
    if (!object) return;
    if (op.detail & kMulticast) return commit_to_several(op, warp, lane, object.entry->offset);
    start_arrival(op, warp, lane, object);
  });
}

}  // namespace

void bind_tcgen05_commit(Decoder& decoder) {
  const AddressOperand address = address_operand(decoder, decoder.operand(0));
  const bool multicast = decoder.has(ptx::Mod::multicast_cluster);
  const Slot mask = multicast ? decoder.source(decoder.operand(1), ptx::Type::u16) : Slot{};
  Op& op =
      decoder.emit(plain_handlers<run_commit>, Slot{}, address.base, address.displacement, mask);
  op.detail = static_cast<uint16_t>(address_bits(address) | (multicast ? kMulticast : 0));
}

}  // namespace lw::machine
