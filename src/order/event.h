#pragma once
// All that the order engine knows of the world. The machine tells it, one call per warp
// instruction, what touched memory and what synchronised; nothing here knows PTX, values or
// registers.
//
// Addresses. Shared memory: byte offset inside the window of the owning CTA. Global memory: device
// virtual addresses. A warp instruction names its lanes' addresses by a shape, so that the common
// ones need no list. Calls come in the order of the run, before the effect takes place: a store is
// declared while memory still holds the old bytes, an asynchronous operation when it is issued.

#include <cstdint>
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

enum class Space : uint8_t { kShared, kGlobal };

enum class Kind : uint8_t { kRead, kWrite, kAtomic };  // kAtomic: read-modify-write

enum class Strength : uint8_t { kWeak, kRelaxed, kAcquire, kRelease, kAcqRel };

enum class Scope : uint8_t { kCta, kCluster, kGpu, kSys };

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
