#pragma once
// All that the order engine knows of the world. The machine tells it, one call per warp
// instruction, what touched memory and what synchronised; nothing here knows PTX, values or
// registers.
//
// Actor and place. Who acts is a warp of a CTA. Where is named apart from that: shared memory by
// the CTA that owns it and a byte offset inside its window, which is another CTA than the actor's
// where a cluster shares memory; global memory by device virtual addresses; tensor memory by the
// cells of the SM of a CTA, see TensorCell. A warp instruction names its lanes' addresses by a
// shape, so that the common ones need no list. Calls come in the order of the run, before the
// effect takes place: a store is declared while memory still holds the old bytes, an asynchronous
// operation when it is issued.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"

namespace lw::order {

using base::AsyncId;
using base::BarrierId;
using base::CtaId;
using base::GridId;
using base::kAllLanes;
using base::kWarpSize;
using base::LaneId;
using base::LaneMask;
using base::OpId;
using base::WarpId;

enum class Space : uint8_t { kShared, kGlobal, kTensor };

enum class Kind : uint8_t { kRead, kWrite, kAtomic };  // kAtomic: read-modify-write

enum class Strength : uint8_t { kWeak, kRelaxed, kAcquire, kRelease, kAcqRel };

constexpr bool acquires(Strength strength) {
  return strength == Strength::kAcquire || strength == Strength::kAcqRel;
}
constexpr bool releases(Strength strength) {
  return strength == Strength::kRelease || strength == Strength::kAcqRel;
}

enum class Scope : uint8_t { kCta, kCluster, kGpu, kSys };

// All of the GPU's, wherever they are.
constexpr bool reaches_other_ctas(Scope scope) { return scope >= Scope::kGpu; }

// Where the lanes of one instruction go.
//   contiguous  lane i at base + i * bytes (also lanes that are off: base is lane 0's address)
//   uniform     every lane at base
//   each32/64   lane i at each[i]; entries of lanes that are off are never read
struct Addresses {
  enum class Shape : uint8_t { kContiguous, kUniform, kEach32, kEach64 };
  Shape shape = Shape::kUniform;
  uint64_t base = 0;
  const void* each = nullptr;

  static Addresses contiguous(uint64_t base) { return {Shape::kContiguous, base, nullptr}; }
  static Addresses uniform(uint64_t base) { return {Shape::kUniform, base, nullptr}; }
  static Addresses each32(const uint32_t* each) { return {Shape::kEach32, 0, each}; }
  static Addresses each64(const uint64_t* each) { return {Shape::kEach64, 0, each}; }

  uint64_t of(int lane, uint32_t bytes) const {
    switch (shape) {
      case Shape::kContiguous:
        return base + static_cast<uint64_t>(lane) * bytes;
      case Shape::kUniform:
        return base;
      case Shape::kEach32:
        return static_cast<const uint32_t*>(each)[lane];
      case Shape::kEach64:
        return static_cast<const uint64_t*>(each)[lane];
    }
    return 0;
  }
};

// One load, store, atomic or reduction of a warp (or of the lanes of it that are together).
struct Access {
  OpId op;
  LaneMask lanes = kAllLanes;
  Space space = Space::kShared;
  Kind kind = Kind::kRead;
  Strength strength = Strength::kWeak;
  Scope scope = Scope::kGpu;  // of a strong access
  uint8_t bytes = 4;          // per lane: 1, 2, 4, 8, 16 or 32
  uint8_t element_bytes = 4;  // vectors are judged per element when strong (M-7)
  bool result_live = true;    // of a strong read: its value is used (D-5)
  bool poll = false;          // it only re-reads until a condition that stays true (D-6)
  Addresses at;
  std::optional<CtaId> cta = {};  // owns the shared memory; nothing: the actor's own CTA
};

// A contiguous piece of memory that an asynchronous operation touches.
struct Range {
  uint64_t base = 0;
  uint64_t bytes = 0;
};

// One side of an asynchronous operation: rows of a box, or one piece. `cta` owns shared ranges.
struct AsyncAccess {
  Space space = Space::kShared;
  Kind kind = Kind::kRead;  // kAtomic: a reduction, relaxed at `scope` (TM-13)
  CtaId cta;
  std::span<const Range> ranges;
  uint8_t element_bytes = 4;
  Scope scope = Scope::kGpu;
};

// Tensor memory (PTX ISA 9.7.16.1): 128 lanes by 512 columns of 32-bit cells for each SM. Its
// address here goes down the lanes of a column first, so that an operand of full columns is one
// piece.
struct TensorCell {
  static constexpr uint32_t kLanes = 128;
  static constexpr uint32_t kColumns = 512;
  static constexpr uint32_t kBytes = 4;
  uint32_t lane = 0;
  uint32_t column = 0;

  constexpr uint64_t address() const { return uint64_t{column * kLanes + lane} * kBytes; }
  static constexpr TensorCell at(uint64_t address) {
    const auto index = static_cast<uint32_t>(address / kBytes);
    return {index % kLanes, index / kLanes};
  }
};

// Some lanes of some columns that stand side by side: bit i of lanes[q] is lane 32 q + i.
struct TensorBox {
  uint32_t column = 0;
  uint32_t columns = 0;
  std::array<LaneMask, 4> lanes{};

  static TensorBox full(uint32_t column, uint32_t columns) {
    return {column, columns, {kAllLanes, kAllLanes, kAllLanes, kAllLanes}};
  }
  static TensorBox quarter(int quarter, uint32_t column, uint32_t columns,
                           LaneMask lanes = kAllLanes) {
    TensorBox box{column, columns, {}};
    box.lanes[static_cast<size_t>(quarter)] = lanes;
    return box;
  }
};

// One operand that tcgen05.mma, cp or shift has in tensor memory. Of an mma, what is read is A,
// metadata or scale factors, and what is written is D.
struct TensorAccess {
  Kind kind = Kind::kRead;
  bool reads_too = false;  // written and read: D with its input enabled (T5-28), shift
  std::span<const TensorBox> boxes;
  std::optional<CtaId> cta = {};  // on whose SM the cells are; nothing: the issuer's
};

// An operation that one thread issues.
struct TensorWork {
  enum class Kind : uint8_t { kMma, kCopy, kCopy4x256b, kShift };
  Kind kind = Kind::kMma;
  bool pair = false;         // cta_group::2
  uint32_t accumulator = 0;  // of an mma: the same for the same D address, shape and kind
  std::span<const TensorAccess> cells;
  std::span<const AsyncAccess> shared;  // read in the async proxy
};

// The place of an mbarrier object is its identity.
struct Mbarrier {
  CtaId cta;
  uint32_t offset = 0;
  friend auto operator<=>(const Mbarrier&, const Mbarrier&) = default;
};

enum class BarrierKind : uint8_t { kSync, kArrive, kRed };

// Which spaces a proxy fence covers (PX-9).
enum class FenceSpaces : uint8_t { kShared = 1, kGlobal = 2, kAll = 3 };

enum class FenceKind : uint8_t { kAcqRel, kAcquire, kRelease, kSc };

// What the engine asks back, only when it has something to report, about the instruction whose call
// is on the stack.
class Values {
 public:
  virtual ~Values() = default;
  // Will the store (or atomic) leave every byte of [address, address + bytes) as it is now? (M-22)
  virtual bool store_keeps(uint64_t address, uint32_t bytes) const = 0;
  // Do all lanes that store to these bytes store the same ones? (M-18)
  virtual bool lanes_agree(uint64_t address, uint32_t bytes) const = 0;
  // How often this warp has executed the instruction, this time included; counts from 1.
  virtual uint32_t execution() const = 0;
};

}  // namespace lw::order
