#pragma once
// What the bulk and the tensor copies share: their operands, the checks of rule E-14, and the two
// operations, a load that signals an mbarrier and a store that belongs to a bulk group.

#include <memory>
#include <optional>
#include <vector>

#include "machine/bulk_reduce.h"
#include "machine/cta.h"
#include "machine/machine.h"
#include "machine/semantics/cluster_site.h"
#include "machine/semantics/parallel_synchronization/mbarrier_site.h"
#include "machine/semantics/shared_place.h"
#include "order/event.h"

namespace lw::machine {

// Slots of an address operand at `more`, and its two bits in `detail`.
inline constexpr uint32_t kSlotsOfAddress = 2;
AddressOperand attached_address(const Op& op, const Warp& warp, uint32_t first_slot, int shift);

// Checks that no live mbarrier object is under the bytes (E-3).
bool is_free_of_objects(const Op& op, Warp& warp, const Cta& owner, uint32_t offset, uint32_t bytes,
                        int lane);

// The bytes at a global address, aligned to 16; null if the fault has been reported.
std::byte* global_bytes(const Op& op, Warp& warp, uint64_t address, uint64_t bytes, int lane);

// A CTA that bytes go to, and the object that they are counted at.
struct LoadTarget {
  Cta* to = nullptr;
  ClusterObject signal;
};

// A copy into shared memory that completes by bytes on an mbarrier. What is copied is the
// subclass's: it reads into what it keeps, then writes it.
class SignalledLoad : public AsyncOperation {
 public:
  SignalledLoad(const Op& op, Warp& warp, const LoadTarget& target, uint32_t bytes)
      : op_(op),
        warp_(warp),
        to_(target.to->id),
        signal_in_(target.signal.cta->id),
        signal_offset_(target.signal.entry->offset),
        bytes_(bytes) {}
  void perform_write(Machine& machine) final;

  base::AsyncId order_id;  // the order engine's

 protected:
  virtual void write_shared(std::byte* shared) = 0;

  const Op& op_;
  Warp& warp_;

 private:
  base::CtaId to_, signal_in_;
  uint32_t signal_offset_;
  uint32_t bytes_;
};

// A copy or reduction out of shared memory that belongs to a bulk group of its lane.
class GroupedStore : public AsyncOperation {
 public:
  GroupedStore(const Op& op, Warp& warp) : op_(op), warp_(warp) {}
  void perform_read(Machine& machine) final;
  void perform_write(Machine& machine) final;

 protected:
  virtual void read_shared() = 0;
  virtual void write_global() = 0;

  const Op& op_;
  Warp& warp_;
};

// `from`: what is read; `ranges`: what is written in the target's shared memory, how.
struct LoadAccess {
  order::AsyncAccess from;
  std::span<const order::Range> ranges;
  order::Kind kind = order::Kind::kWrite;
  uint32_t element_bytes = 4;
};
void start_load(const Op& op, Warp& warp, int lane, const LoadTarget& target,
                const LoadAccess& access, std::unique_ptr<SignalledLoad> operation);
void start_store(const Op& op, Warp& warp, int lane, std::span<const order::AsyncAccess> accesses,
                 std::unique_ptr<GroupedStore> operation);

order::AsyncAccess shared_access(const Cta& cta, order::Kind kind,
                                 std::span<const order::Range> ranges);
order::AsyncAccess global_access(order::Kind kind, std::span<const order::Range> ranges,
                                 uint32_t element_bytes);

// The operation that a reduction's opcode names.
std::optional<ReduceOp> reduce_op_of(const program::Decoder& decoder);

// A reduction by the type that its opcode names, as it stands in `immediate`.
struct Reduction {
  ReduceOp op{};
  ReduceType type{};

  static Reduction of(const Op& op) {
    return {static_cast<ReduceOp>(op.immediate >> 8), static_cast<ReduceType>(op.immediate & 0xff)};
  }
  uint64_t packed() const { return static_cast<uint64_t>(op) << 8 | static_cast<uint64_t>(type); }
  uint32_t element_bytes() const { return reduce_element_bytes(type); }
  void run(std::byte* to, std::span<const std::byte> data) const {
    reduce_elements(to, data.data(), static_cast<uint32_t>(data.size()), op, type);
  }
};
// Nothing: the type has no such reduction, which has been said.
std::optional<Reduction> reduction_of(program::Decoder& decoder);

// How the operands of a load name its targets.
struct LoadOperands {
  AddressOperand to, signal;
  bool in_cluster = false;  // `.shared::cluster`: they may be another CTA's
  bool multicast = false;
  Slot ranks{};               // of a multicast
  bool signals_pair = false;  // the object may be in another CTA than the bytes (cta_group::2)
};
// Where `size` bytes go; nothing if the fault has been reported.
std::optional<ClusterPlace> load_place(const Op& op, Warp& warp, int lane,
                                       const LoadOperands& operands, uint32_t size,
                                       uint32_t alignment);
// The targets of a load to this place; none if the fault has been reported.
std::vector<LoadTarget> load_targets(const Op& op, Warp& warp, int lane,
                                     const LoadOperands& operands, Cta& to);

}  // namespace lw::machine
