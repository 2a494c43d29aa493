#pragma once
// The tensor memory of one SM (PTX: TensorCore 5th Generation Instructions, Tensor Memory): 128
// lanes by 512 columns of 32-bit cells, given to CTAs in runs of whole columns.
//
// It belongs to the SM, not to a CTA: what a CTA frees keeps its bits until the next owner writes
// them, and CTAs that are resident together, of whatever launch, take their columns from one stock.
// A run is the lowest free one at a multiple of its size. Addresses have the lane in the upper half
// and the column in the lower.
//
// Limits: the manual does not say which columns `alloc` returns, nor whether a CTA that has not
// relinquished its permit keeps others from allocating; here only missing columns make one wait.
// Tested in tensor_memory_test.cpp.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/ids.h"

namespace lw::machine {

class Cta;

inline constexpr uint32_t kTensorLanes = 128;
inline constexpr uint32_t kTensorColumns = 512;
inline constexpr uint32_t kLanesOfWarp = 32;  // a warp's `ld` and `st` reach the warp's quarter

struct TensorAddress {
  uint32_t lane;
  uint32_t column;
};
constexpr TensorAddress tensor_address(uint32_t bits) { return {bits >> 16, bits & 0xffff}; }

class TensorMemory {
 public:
  explicit TensorMemory(uint8_t poison);

  struct Allocation {
    uint32_t first = 0;
    uint32_t columns = 0;
    base::CtaId cta;
    base::OpId allocated_by;
    base::OpId freed_by;
    std::optional<base::WarpId> freed_in;  // the warp that freed it; until then it is live

    uint32_t end() const { return first + columns; }
    bool is_live() const { return !freed_in; }
  };

  // The first column of a run that is now the CTA's; nullopt: none is long enough. `columns` is a
  // power of two.
  std::optional<uint32_t> allocate(base::CtaId cta, uint32_t columns, base::OpId by);
  // The same run of both, for a pair of CTAs on two SMs.
  static std::optional<uint32_t> allocate_in_both(TensorMemory& one, base::CtaId cta,
                                                  TensorMemory& other, base::CtaId peer,
                                                  uint32_t columns, base::OpId by);
  // The allocation of the CTA that begins there, a live one first, then the one freed last.
  Allocation* find(base::CtaId cta, uint32_t first);
  // Any live allocation of the CTA.
  const Allocation* any(base::CtaId cta) const;
  // The CTA has ended: its live and its freed allocations are forgotten.
  void forget(base::CtaId cta);

  // Whether the CTA has, or had, all of [first, first + count).
  enum class Holding : uint8_t { live, freed, never };
  struct Held {
    Holding holding = Holding::live;
    const Allocation* freed = nullptr;  // the one that it had
    uint32_t column = 0;                // the first that is not live
  };
  Held held(base::CtaId cta, uint32_t first, uint32_t count) const;

  uint32_t free_columns() const;
  // The 128 cells of a column.
  uint32_t* column(uint32_t column) { return cells_.data() + size_t{column} * kTensorLanes; }

 private:
  bool is_free(uint32_t first, uint32_t columns) const;
  const Allocation* covering(base::CtaId cta, uint32_t column) const;

  std::vector<uint32_t> cells_;
  std::vector<Allocation> allocations_;  // of resident CTAs, in order of alloc
};

// Of all SMs; those that nobody uses cost nothing.
class TensorMemories {
 public:
  TensorMemory& of(uint32_t sm, uint8_t poison);

 private:
  std::vector<std::unique_ptr<TensorMemory>> by_sm_;
};

// The CTA ends. False if it still holds columns: the fault has been reported (rule T5-6).
bool give_back_tensor_memory(Cta& cta);

}  // namespace lw::machine
